import type { ResolveOptions } from "../../config/resolve.ts";
import type { RunEvent as ServerEvent } from "../../hosting/processes/run-servers.ts";
import type { WorkerRecord } from "../../queue/board.ts";
import type { BrokerSettings } from "../../queue/broker.ts";

export type WorkerEvent =
  | { type: "joined"; run: string; name: string; agents: string[] }
  | { type: "left"; run: string }
  | { type: "notice"; text: string }
  | { type: "server"; run: string; event: ServerEvent }
  | { type: "status"; record: WorkerRecord };

export interface WorkerOptions {
  broker: BrokerSettings;
  /** Rollouts at once. Default: automatic. */
  concurrency?: number | undefined;
  /** Takes rollouts of these runs only. */
  runs?: readonly string[] | undefined;
  /** Tags of this machine, in addition to those that are detected (`sandbox`, `gpu`). */
  tags?: readonly string[] | undefined;
  noServe?: boolean | undefined;
  /** Where shared directories of runs are on this machine. Default: where their collectors have them. */
  storeDirectory?: string | undefined;
  /** Ends when there was nothing to do for this long. Default: never. */
  idleSeconds?: number | undefined;
  /** Ends with an error when the broker is away for this long. Default: 3600. */
  outageSeconds?: number | undefined;
  /** Drains after this long, so that a job ends before its time is up. */
  maxSeconds?: number | undefined;
  /** How long rollouts under way may go on when the worker drains. Default: 60. */
  drainSeconds?: number | undefined;
  /** How the worker's own settings are found. */
  resolve: ResolveOptions;
  /** Takes no more, finishes what it has, and ends. */
  drain?: AbortSignal | undefined;
  /** Gives back what it has, and ends. */
  stop?: AbortSignal | undefined;
  onEvent?: (event: WorkerEvent) => void;
}

export interface WorkerSummary {
  worker: string;
  completed: number;
  failed: number;
  /** Rollouts given back unfinished. */
  released: number;
  /** Why it ended. */
  reason: string;
}
