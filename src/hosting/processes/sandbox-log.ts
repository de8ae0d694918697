import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ServerLog } from "./server-log.ts";

/** Published by `Sandbox.exec`. */
const CHANNEL = "nemo-gym:sandbox-command";

interface Command {
  sandbox: string;
  program: string;
  ending: string;
  seconds: number;
}

/**
 * Writes a line for each command that servers of this process run in sandboxes to `sandbox.log`, prefixed with the
 * rollout. Processes of one run append to the same file. Returns a function that ends it.
 */
export function logSandboxCommands(directory: string, onFileError: (error: Error) => void): () => void {
  // Created on first use, because most runs do not use a sandbox.
  let log: ServerLog | undefined;
  const write = (message: unknown) => {
    const { sandbox, program, ending, seconds } = message as Command;
    log ??= new ServerLog({ server: "sandbox", directory, onLine: () => {}, onFileError });
    log.write(`${sandbox}: ${program}: ${ending} after ${seconds.toFixed(3)} s`);
  };
  subscribe(CHANNEL, write);
  return () => {
    unsubscribe(CHANNEL, write);
    log?.close();
  };
}
