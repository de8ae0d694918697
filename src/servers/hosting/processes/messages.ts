import type { HostedInstance } from "../cohost.ts";
import type { RayCluster } from "./ray-cluster.ts";

/**
 * The settings of a server process; sent over IPC, because the command line limits their size and would expose secrets.
 */
export interface StartMessage {
  type: "start";
  instance: HostedInstance;
  addresses: [name: string, url: string][];
  globalConfig: Record<string, unknown>;
  /** Proves to the head server that the process belongs to the run. */
  headToken: string;
  /** The config as text, for servers that receive it through the environment. */
  configYaml: string;
  installRoot: string;
  roots: string[];
  /** The socket over which the processes of the run share their budgets. */
  budgetSocketPath?: string;
  /**
   * Sockets of the link between the processes of the run, by server. This process listens on `socketPath`, unless
   * several workers share its port.
   */
  link?: { socketPath?: string; sockets: [server: string, path: string][] };
  /** Environment variables of the process, beyond those of its parent. */
  variables: Record<string, string>;
  /** The version of the package, for telemetry. */
  version?: string;
  /** Where the logs of the run are. */
  logDirectory?: string;
  /** Whether Python servers of the run share a Ray cluster. */
  sharesRay?: boolean;
  /** Set for one worker of several. */
  worker?: { index: number; count: number; socketDirectory: string; mcpSecret: string };
}

/** Messages of a server process to its parent. */
export type ServerMessage =
  /** The process is ready for its start message; an earlier message could be lost. */
  | { type: "loaded" }
  | { type: "ready" }
  | { type: "failed"; message: string }
  /** The process ends after a fatal event, such as `worker 1 was killed by SIGKILL`. */
  | { type: "ending"; message: string }
  /** A Python server asks for the address of the Ray cluster of the run. */
  | { type: "ray"; versions: string; python: string }
  | { type: "lag"; server: string | undefined; path: string | undefined; lagMs: number; heldMs: number };

/** The answer to a `ray` message; without a cluster the server starts its own. */
export interface RayMessage {
  type: "ray";
  cluster?: RayCluster;
}

export function isRayMessage(value: unknown): value is RayMessage {
  return (value as { type?: unknown } | null)?.type === "ray";
}

export function isStartMessage(value: unknown): value is StartMessage {
  return (value as { type?: unknown } | null)?.type === "start";
}

/** Ends the process of a server after a fatal event and reports the reason to its parent. */
export function endBecause(message: string, exitCode = 1): void {
  console.error(message);
  if (!process.connected) process.exit(exitCode);
  const ending: ServerMessage = { type: "ending", message };
  process.send?.(ending, () => process.exit(exitCode));
}

/** How a process has ended, as a phrase that follows its name. */
export function exitText(code: number | null, signal: string | null): string {
  return signal ? `was killed by ${signal}` : `ended with code ${code}`;
}
