import type { CallOptions, ServerClient, ServerReply } from "../../calls/server-client.ts";
import type { ResolvedConfig } from "../../config/resolve.ts";
import { RolloutError } from "../../rollouts/errors.ts";
import type { FsyncPolicy } from "../../rollouts/files/jsonl-writer.ts";
import { readManifest } from "../../rollouts/files/manifest.ts";
import type { Evaluation, PreparedEvaluation } from "../evaluate.ts";
import { findMetricServers, type MetricServers } from "../metric-servers.ts";
import type { QueueOptions } from "./queue-options.ts";
import { WorkerHub } from "./worker-hub.ts";

export interface CollectWithWorkersOptions {
  queue: QueueOptions;
  config: ResolvedConfig;
  prepared: PreparedEvaluation;
  agents: readonly string[];
  rolloutTimeoutMs: number | null;
  roots: readonly string[];
  installRoot: string;
  aggregate?: boolean;
  fsync?: FsyncPolicy;
  drain?: AbortSignal;
  stop?: AbortSignal;
  onNotice: (text: string) => void;
}

/** Collects the rollouts of a prepared evaluation from workers. */
export async function collectWithWorkers(options: CollectWithWorkersOptions): Promise<Evaluation> {
  const { prepared, agents, config, drain, stop, aggregate, fsync } = options;
  await prepared.begin();
  const { paths } = prepared;
  const manifest = await readManifest(paths.manifest);
  if (!manifest) throw new RolloutError("ROLLOUT_MANIFEST_INVALID", `'${paths.manifest}' is missing.`);
  const hub = await WorkerHub.open({
    ...options,
    manifest,
    paths,
    total: prepared.total,
    spentEarlier: prepared.spentEarlier,
    isDone: (taskIndex, rolloutIndex) => prepared.isDone(taskIndex, rolloutIndex),
  });
  const onDrain = () => void hub.drain(stop);
  drain?.addEventListener("abort", onDrain, { once: true });
  const onStop = () => hub.stopPublishing();
  stop?.addEventListener("abort", onStop, { once: true });
  const metrics = new MetricClient(() =>
    findMetricServers(config, new Set(agents), {
      roots: options.roots,
      installRoot: options.installRoot,
      ...(stop && { signal: stop }),
    }),
  );
  try {
    return await prepared.run({
      client: metrics,
      workers: hub,
      spent: () => hub.spent,
      ...(aggregate !== undefined && { aggregate }),
      ...(fsync && { fsync }),
    });
  } finally {
    drain?.removeEventListener("abort", onDrain);
    stop?.removeEventListener("abort", onStop);
    await metrics.close();
    await hub.close();
  }
}

/** Starts the servers that compute metrics on the first request. */
class MetricClient implements ServerClient {
  readonly #find: () => Promise<MetricServers | undefined>;
  #servers: Promise<MetricServers | undefined> | undefined;

  constructor(find: () => Promise<MetricServers | undefined>) {
    this.#find = find;
  }

  async post(server: string, path: string, body: unknown, options?: CallOptions): Promise<ServerReply> {
    return (await this.#client()).post(server, path, body, options);
  }

  async get(server: string, path: string, options?: CallOptions): Promise<ServerReply> {
    return (await this.#client()).get(server, path, options);
  }

  baseUrl(server: string): string {
    throw new Error(`the address of ${server} is not known here`);
  }

  async #client(): Promise<ServerClient> {
    this.#servers ??= this.#find();
    const servers = await this.#servers;
    if (!servers) throw new Error("no servers of the config compute metrics");
    return servers.client;
  }

  async close(): Promise<void> {
    await (await this.#servers?.catch(() => undefined))?.close();
  }
}
