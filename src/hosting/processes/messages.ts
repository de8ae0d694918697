import type { HostedInstance } from "../cohost.ts";
import type { RayCluster } from "./ray-cluster.ts";

/** What a server process needs to know to start; sent over IPC, so that size and secrets stay off the command line. */
export interface StartMessage {
  type: "start";
  instance: HostedInstance;
  addresses: [name: string, url: string][];
  globalConfig: Record<string, unknown>;
  /** Shows the head server that the process belongs to the run. */
  headToken: string;
  /** The config as text, for servers that take it through the environment. */
  configYaml: string;
  installRoot: string;
  roots: string[];
  /** The socket where the processes of the run share their budgets. */
  budgets?: string;
  /** Sockets the processes of the run call each other on: its own unless several share it, and by server. */
  link?: { socketPath?: string; sockets: [server: string, path: string][] };
  /** Where the logs of the run are. */
  logDirectory?: string;
  /** Whether Python servers of the run share a Ray cluster. */
  sharesRay?: boolean;
  /** Set for one worker of several. */
  worker?: { index: number; count: number; socketDirectory: string; mcpSecret: string };
}

/** What a server process reports back. */
export type ServerMessage =
  /** It listens for its start message; one sent earlier could be lost. */
  | { type: "loaded" }
  | { type: "ready" }
  | { type: "failed"; message: string; stack?: string }
  /** The process ends after a fatal event, such as `worker 1 was killed by SIGKILL`. */
  | { type: "ending"; message: string }
  /** A Python server asks where the Ray cluster of the run is. */
  | { type: "ray"; versions: string; python: string }
  | { type: "lag"; server: string | undefined; path: string | undefined; lagMs: number; heldMs: number };

/** The answer to a question for Ray; without a cluster the server starts its own. */
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

/** How a process has ended, in words that follow its name. */
export function exitText(code: number | null, signal: string | null): string {
  return signal ? `was killed by ${signal}` : `ended with code ${code}`;
}
