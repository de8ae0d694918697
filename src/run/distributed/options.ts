import type { ResolveOptions } from "../../config/resolve.ts";
import type { RunEvent as ServerEvent } from "../../hosting/processes/run-servers.ts";
import type { WorkerRecord } from "../../queue/board.ts";
import type { BrokerSettings } from "../../queue/broker.ts";

export const LEASE_SECONDS = 30;
export const MAX_DELIVER = 10;
export const OUTAGE_SECONDS = 3_600;

/** How a run uses a broker. */
export interface QueueOptions {
  broker: BrokerSettings;
  /** A worker that sends no heartbeat for this long loses its rollouts. Default: 30. */
  leaseSeconds?: number;
  /** Deliveries of one rollout before it fails as `worker_lost`. Default: 10. */
  maxDeliver?: number;
  /** Address at which workers reach this process. Default: the local address of the connection to the broker. */
  storeHost?: string;
  storePort?: number;
  /** Longest time that the broker may be unreachable or full. Default: 3600. */
  outageSeconds?: number;
  /** Directory that workers share with this process, for rows and results. Workers without access use HTTP. */
  storeDirectory?: string;
  /** Share of the concurrent rollouts, by agent. Default: 1. */
  weights?: Readonly<Record<string, number>>;
  /** Tags that a worker must have, by agent. */
  needs?: Readonly<Record<string, readonly string[]>>;
}

export type WorkerEvent =
  | { type: "joined"; run: string; name: string; agents: string[] }
  | { type: "left"; run: string }
  | { type: "notice"; text: string }
  | { type: "server"; run: string; event: ServerEvent }
  | { type: "status"; record: WorkerRecord };

export interface WorkerOptions {
  broker: BrokerSettings;
  /** Concurrent rollouts. Default: automatic. */
  concurrency?: number;
  /** Serves only these runs. */
  runs?: readonly string[];
  /** Tags of this machine, in addition to the detected ones (`sandbox`, `gpu`). */
  tags?: readonly string[];
  noServe?: boolean;
  /** Path of the shared directories of runs on this machine. Default: the collector's path. */
  storeDirectory?: string;
  /** Ends after this long without work. Default: never. */
  idleSeconds?: number;
  /** Ends with an error when the broker is unreachable for this long. Default: 3600. */
  outageSeconds?: number;
  /** Drains after this long, so that a batch job ends before its time limit. */
  maxSeconds?: number;
  /** How long running rollouts may continue when the worker drains. Default: 60. */
  drainSeconds?: number;
  /** How to find the worker's own settings. */
  resolve: ResolveOptions;
  /** Stops pulling rollouts, finishes the running ones, and ends. */
  drain?: AbortSignal;
  /** Returns unfinished rollouts to the broker, and ends. */
  stop?: AbortSignal;
  onEvent?: (event: WorkerEvent) => void;
}

export interface WorkerSummary {
  worker: string;
  completed: number;
  failed: number;
  /** Rollouts returned unfinished. */
  released: number;
  /** Why the worker ended. */
  reason: string;
}
