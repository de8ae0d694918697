import type { ResolveOptions } from "../../config/door.ts";
import type { ServersEvent as ServerEvent } from "../../servers/hosting/door.ts";
import type { WorkerRecord } from "../queue/board.ts";
import type { BrokerSettings } from "../queue/broker-settings.ts";

export const LEASE_SECONDS = 30;
export const MAX_DELIVER = 10;
export const OUTAGE_SECONDS = 3_600;

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
  /** Joins runs whose config has `sandbox: none`: their code has all rights of this user. Default: rejects them. */
  allowNoSandbox?: boolean;
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
