import { once } from "node:events";
import path from "node:path";
import { workingRoot } from "../../config/paths.ts";
import type { ResolvedConfig } from "../../config/resolve.ts";
import type { RunningServers } from "../../hosting/processes/run-servers.ts";
import { startServers } from "../../run/start-servers.ts";
import type { CommandContext } from "../command.ts";
import { refuseUnusedModelUrl } from "./model-flags.ts";
import { startView } from "./start-view.ts";
import { watchServers } from "./watch.ts";

/** Runs `gym env start`: starts the servers, shows them and stops them on Ctrl-C. */
export async function envStart(context: CommandContext): Promise<number> {
  const { flags, io, installRoot } = context;
  const signal = flags["exit-with-parent"] ? withParent(context.signal, io.stdin) : context.signal;
  const config = await context.resolve();
  refuseUnusedModelUrl(flags, config);
  const started = Date.now();
  const view = startView(context);
  let servers: RunningServers;
  try {
    servers = await startServers(config, {
      roots: context.roots,
      installRoot,
      onEvent: (event) => view.serverEvent(event),
      signal,
      ownsProcess: true,
      logDirectory: path.join(resultsDirectory(config, context), "logs", logName()),
      hosting: flags["watch"] ? "process" : undefined,
    });
  } catch (error) {
    if (signal.aborted) {
      view.finished();
      return 0;
    }
    throw error;
  }
  try {
    if (config.get("dry_run") === true) {
      view.prepared();
      return 0;
    }
    if (!flags["no-preflight"]) {
      const { checkModelEndpoints } = await import("../../run/preflight.ts");
      await checkModelEndpoints(config, { signal, onNotice: (text) => view.notice(text) });
    }
    view.ready(servers, (Date.now() - started) / 1000);
    const watcher = flags["watch"] ? watchServers(servers, view) : undefined;
    try {
      if (!signal.aborted) await Promise.race([once(signal, "abort"), servers.crashed]);
    } finally {
      watcher?.close();
    }
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    throw error;
  } finally {
    await servers.close();
    view.finished();
  }
}

/** Below the working directory unless the config names a directory: the default of the key may be the checkout. */
function resultsDirectory(config: ResolvedConfig, { io, installRoot }: CommandContext): string {
  const chosen = String(config.get("results_dir") ?? "");
  const preset = path.join(workingRoot(io.cwd, installRoot), "results");
  return chosen === "" || chosen === preset ? path.join(io.cwd, "results") : chosen;
}

/** The pipe to stdin closes when the parent ends, for any reason. */
function withParent(signal: AbortSignal, stdin: NodeJS.ReadableStream | undefined): AbortSignal {
  const parentEnded = new AbortController();
  stdin?.once("close", () => parentEnded.abort()).once("error", () => parentEnded.abort());
  stdin?.once("end", () => parentEnded.abort()).resume();
  return AbortSignal.any([signal, parentEnded.signal]);
}

/** Two runs may start within one second. */
function logName(): string {
  return `${new Date().toISOString().replace(/[:.]/g, "-").slice(0, 19)}-${process.pid}`;
}
