import type { ResolvedConfig } from "../../config/door.ts";
import { RolloutError } from "../../records/errors.ts";
import { readManifest } from "../../records/files/door.ts";
import type { ServerClient } from "../../servers/calls/door.ts";
import type { RolloutTraces } from "../collect/trace-rollouts.ts";
import { findMetricServers, type MetricServers } from "../metric-servers.ts";
import type { Evaluation, Run } from "../run.ts";
import type { QueueOptions } from "./queue-options.ts";
import { WorkerHub } from "./worker-hub.ts";

interface WorkersOptions {
  queue: QueueOptions;
  config: ResolvedConfig;
  agents: readonly string[];
  roots: readonly string[];
  installRoot: string;
  traces?: RolloutTraces;
  drain?: AbortSignal;
  signal?: AbortSignal;
}

/** Executes a run on workers. Servers start in this process only if metrics need them. */
export async function collectWithWorkers(run: Run, options: WorkersOptions): Promise<Evaluation> {
  const { config, agents, roots, installRoot, drain, signal } = options;
  await run.begin();
  const { paths } = run;
  const manifest = await readManifest(paths.manifest);
  if (!manifest) throw new RolloutError("ROLLOUT_MANIFEST_INVALID", `'${paths.manifest}' is missing.`);
  const hub = await WorkerHub.open(run, { ...options, manifest });
  const onDrain = () => void hub.drain(signal);
  drain?.addEventListener("abort", onDrain, { once: true });
  const onStop = () => hub.stopPublishing();
  signal?.addEventListener("abort", onStop, { once: true });
  const client = metricClient(() =>
    findMetricServers(config, new Set(agents), { roots, installRoot, signal }),
  );
  try {
    return await run.execute({
      executor: hub,
      client,
      servers: "workers",
      spent: () => hub.spent,
      attach: (collection) => hub.attach(collection),
      resources: () => hub.resources(),
    });
  } finally {
    drain?.removeEventListener("abort", onDrain);
    signal?.removeEventListener("abort", onStop);
    await client.close();
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
