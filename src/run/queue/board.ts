import { JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import type { KV, KvEntry } from "@nats-io/kv";
import { errorMessage } from "../../base/errors.ts";
import type { Broker } from "./broker.ts";
import { QueueError } from "./errors.ts";

const RUNS = "gym-runs";
const WORKERS = "gym-workers";
const SPENDING = "gym-spending";
const ENDPOINTS = "gym-endpoints";
/** A slow-down request expires after this long if its worker is gone. */
const SLOW_DOWN_TTL_MS = 10 * 60_000;
/** A worker that does not report for this long counts as gone. */
const WORKER_TTL_MS = 20_000;
export const WORKER_REPORT_MS = 5_000;

export interface AgentRecord {
  name: string;
  /** Share of a worker's concurrency, relative to other agents. */
  weight: number;
  /** Tags that a worker must have to run it. */
  needs: string[];
}

/**
 * The information that workers need about a run. It holds neither the config nor secrets, except the token of the
 * store.
 */
export interface RunRecord {
  run: string;
  /** File name of the output, for display. */
  name: string;
  created: string;
  /** The version of the package that collects; older collectors do not report it. */
  version?: string;
  state: "running" | "paused" | "ended";
  total: number;
  agents: AgentRecord[];
  /** Address for rows and results. It changes when the collector is restarted elsewhere. */
  store: { url: string; token: string };
  /** A directory with the same rows and results, for workers that can access it. */
  directory: string | null;
  /** Workers of the run, in the order in which they share limits. */
  workers: string[];
  lease_ms: number;
  rollout_timeout_ms: number | null;
}

export interface WorkerRecord {
  worker: string;
  host: string;
  pid: number;
  tags: string[];
  state: "running" | "draining";
  concurrency: number;
  automatic_concurrency: boolean;
  running: number;
  /** Results that wait for an unreachable collector; their rollouts do not use slots. */
  undelivered: number;
  completed: number;
  failed: number;
  /** Running rollouts of each joined run. */
  runs: Record<string, number>;
  /** Why the worker could not join a run, by run. */
  problems: Record<string, string>;
  /** Resources used since the worker joined the first of these runs; null if they cannot be measured. */
  resources: Readonly<Record<string, number>> | null;
  started: string;
}

/** A model endpoint asked one worker to slow down. */
export interface SlowDownRecord {
  worker: string;
  /** A duration, because clocks of hosts differ: it starts when a worker sees the record. */
  pause_ms: number;
  /** Factor by which each worker multiplies its limit on concurrent calls. */
  factor: number;
}

/** The records of runs and workers, in the key-value store of the broker. */
export class RunBoard {
  readonly #jsm: JetStreamManager;
  readonly #runs: KV;
  readonly #workers: KV;
  readonly #spending: KV;
  readonly #endpoints: KV;

  private constructor(jsm: JetStreamManager, runs: KV, workers: KV, spending: KV, endpoints: KV) {
    this.#jsm = jsm;
    this.#runs = runs;
    this.#workers = workers;
    this.#spending = spending;
    this.#endpoints = endpoints;
  }

  static async open({ jsm, kvm, name }: Broker): Promise<RunBoard> {
    try {
      const runs = await kvm.create(RUNS, { history: 1 });
      const workers = await kvm.create(WORKERS, { history: 1, ttl: WORKER_TTL_MS });
      const spending = await kvm.create(SPENDING, { history: 1 });
      const endpoints = await kvm.create(ENDPOINTS, { history: 1, ttl: SLOW_DOWN_TTL_MS });
      return new RunBoard(jsm, runs, workers, spending, endpoints);
    } catch (error) {
      if (error instanceof JetStreamApiError) throw error;
      throw new QueueError(
        "QUEUE_UNREACHABLE",
        `The broker at ${name} does not answer: ${errorMessage(error)}.`,
        { cause: error },
      );
    }
  }

  putRun(record: RunRecord): Promise<unknown> {
    return this.#runs.put(record.run, JSON.stringify(record));
  }

  async run(run: string): Promise<RunRecord> {
    const entry = await entryOf(this.#runs, run);
    if (entry) return entry.json<RunRecord>();
    const known = (await this.runs()).map((record) => record.run).join(", ") || "none";
    throw new QueueError("QUEUE_RUN_UNKNOWN", `The broker has no run '${run}'. Runs: ${known}.`);
  }

  async removeRun(run: string): Promise<void> {
    // `kv.purge` would keep a marker for each key for ever.
    await this.#jsm.streams.purge(streamOf(RUNS), { filter: subjectOf(RUNS, run) });
    await this.#jsm.streams.purge(streamOf(SPENDING), { filter: subjectOf(SPENDING, `${run}.*`) });
  }

  /** Records the dollars that one worker has spent on a run so far. */
  async putSpending(run: string, worker: string, dollars: number): Promise<void> {
    await this.#spending.put(`${run}.${worker}`, String(dollars));
  }

  /** Dollars spent on a run, by worker, including workers that are gone. */
  async spending(run: string): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (const key of await this.#keys(SPENDING, `${run}.*`)) {
      const entry = await entryOf(this.#spending, key);
      if (entry) found.set(key.slice(run.length + 1), Number(entry.string()));
    }
    return found;
  }

  async putSlowDown(endpoint: string, record: SlowDownRecord): Promise<void> {
    await this.#endpoints.put(endpoint, JSON.stringify(record));
  }

  async removeSlowDown(endpoint: string): Promise<void> {
    await this.#endpoints.purge(endpoint);
  }

  /** Reports current and future slow-down requests of endpoints. */
  async watchSlowDowns(
    onRecord: (endpoint: string, record: SlowDownRecord) => void,
  ): Promise<{ close(): void }> {
    const watch = await this.#endpoints.watch();
    const report = async () => {
      for await (const entry of watch)
        if (entry.operation === "PUT") onRecord(entry.key, entry.json<SlowDownRecord>());
    };
    void report().catch(() => {});
    return { close: () => watch.stop() };
  }

  /** All runs that were not removed, oldest first. */
  async runs(): Promise<RunRecord[]> {
    const found = await this.#all<RunRecord>(RUNS, this.#runs);
    return found.sort((a, b) => (a.created < b.created ? -1 : 1));
  }

  putWorker(record: WorkerRecord): Promise<unknown> {
    return this.#workers.put(record.worker, JSON.stringify(record));
  }

  async removeWorker(worker: string): Promise<void> {
    await this.#workers.purge(worker);
  }

  /** Workers that reported recently. */
  async workers(): Promise<WorkerRecord[]> {
    const found = await this.#all<WorkerRecord>(WORKERS, this.#workers);
    return found.sort((a, b) => (a.worker < b.worker ? -1 : 1));
  }

  async #all<T>(bucket: string, kv: KV): Promise<T[]> {
    const found: T[] = [];
    for (const key of await this.#keys(bucket, ">")) {
      const entry = await entryOf(kv, key);
      if (entry) found.push(entry.json<T>());
    }
    return found;
  }

  /** `kv.keys()` would leave a consumer at the broker for five minutes, and may not end if the connection is lost. */
  async #keys(bucket: string, filter: string): Promise<string[]> {
    const { state } = await this.#jsm.streams.info(streamOf(bucket), {
      subjects_filter: subjectOf(bucket, filter),
    });
    return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(subjectOf(bucket, "").length));
  }
}

/** Where NATS stores a bucket. */
const streamOf = (bucket: string): string => `KV_${bucket}`;
const subjectOf = (bucket: string, key: string): string => `$KV.${bucket}.${key}`;

/** The entry of a key; undefined if it does not exist or was removed. */
async function entryOf(kv: KV, key: string): Promise<KvEntry | undefined> {
  const entry = await kv.get(key);
  return entry?.operation === "PUT" ? entry : undefined;
}
