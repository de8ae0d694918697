import { RolloutError } from "../../records/errors.ts";
import { readManifest } from "../../records/files/manifest.ts";
import type { ServerClient } from "../../servers/calls/server-client.ts";
import type { EvaluationSession } from "../evaluation-session.ts";
import { findMetricServers, type MetricServers } from "../metric-servers.ts";
import type { Evaluation, PreparedEvaluation } from "../prepared-evaluation.ts";
import type { QueueOptions } from "./queue-options.ts";
import { WorkerHub } from "./worker-hub.ts";

/** Collects the rollouts of a prepared evaluation from workers. */
export async function collectWithWorkers(
  session: EvaluationSession,
  queue: QueueOptions,
  prepared: PreparedEvaluation,
): Promise<Evaluation> {
  const { agents, config, roots, installRoot } = session;
  const { drain, signal } = session.options;
  await prepared.begin();
  const { paths } = prepared;
  const manifest = await readManifest(paths.manifest);
  if (!manifest) throw new RolloutError("ROLLOUT_MANIFEST_INVALID", `'${paths.manifest}' is missing.`);
  const hub = await WorkerHub.open(session, queue, prepared, manifest);
  const onDrain = () => void hub.drain(signal);
  drain?.addEventListener("abort", onDrain, { once: true });
  const onStop = () => hub.stopPublishing();
  signal?.addEventListener("abort", onStop, { once: true });
  const metrics = metricClient(() =>
    findMetricServers(config, new Set(agents), { roots, installRoot, signal }),
  );
  try {
    return await prepared.run({ client: metrics, workers: hub, spent: () => hub.spent });
  } finally {
    drain?.removeEventListener("abort", onDrain);
    signal?.removeEventListener("abort", onStop);
    await metrics.close();
    await hub.close();
  }
}

/** A client that starts the servers that compute metrics on its first request. */
function metricClient(
  find: () => Promise<MetricServers | undefined>,
): ServerClient & { close(): Promise<void> } {
  let finding: Promise<MetricServers | undefined> | undefined;
  const client = async (): Promise<ServerClient> => {
    finding ??= find();
    const servers = await finding;
    if (!servers) throw new Error("no servers of the config compute metrics");
    return servers.client;
  };
  return {
    post: async (...call) => (await client()).post(...call),
    get: async (...call) => (await client()).get(...call),
    baseUrl(server) {
      throw new Error(`the address of ${server} is not known here`);
    },
    async close() {
      await (await finding?.catch(() => undefined))?.close();
    },
  };
}
