import { once } from "node:events";
import path from "node:path";
import type { ResolvedConfig } from "../../config/door.ts";
import { workingRoot } from "../../config/paths.ts";
import { startServers } from "../../run/door.ts";
import type { RunningServers, ServersEvent } from "../../servers/hosting/door.ts";
import { waitingText } from "../../servers/hosting/light-door.ts";
import type { CommandContext } from "../command.ts";
import { serverJsonEvent } from "../eval/json-events.ts";
import { lagText } from "../render/server-text.ts";
import { rejectUnusedModelUrl } from "./model-flags.ts";
import { watchServers } from "./watch.ts";

/** Runs `gym env start`: starts the servers, shows them and stops them on Ctrl-C. */
export async function envStart(context: CommandContext): Promise<number> {
  const { flags, io, installRoot } = context;
  const signal = flags["exit-with-parent"] ? withParent(context.signal, io.stdin) : context.signal;
  const config = await context.resolve();
  rejectUnusedModelUrl(flags, config);
  const started = Date.now();
  const view = context.json ? jsonView(context) : textView(context);
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
      const { checkModelEndpoints } = await import("../../run/door.ts");
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

/** The output of `gym env start`. */
export interface StartView {
  serverEvent(event: ServersEvent): void;
  notice(text: string): void;
  prepared(): void;
  ready(servers: RunningServers, seconds: number): void;
  /** A watched server was restarted, or the restart failed. */
  restarted(server: string, outcome: { milliseconds: number } | { error: string }): void;
  watching(count: number): void;
  finished(): void;
}

/** One JSON text per line; warnings of the command stay on stderr. */
function jsonView({ out, err }: CommandContext): StartView {
  const tell = (event: string, about: object = {}) => out(JSON.stringify({ event, ...about }));
  return {
    serverEvent: (event) => out(JSON.stringify(serverJsonEvent(event))),
    notice: err,
    prepared: () => tell("prepared"),
    ready: ({ instances, headUrl }, seconds) =>
      tell("ready", { seconds, head_server: headUrl ?? null, servers: instances }),
    restarted: (server, outcome) => tell("server-restarted", { server, ...outcome }),
    watching: () => {},
    finished: () => tell("finished"),
  };
}

function textView({ out, err, terminal, verbose }: CommandContext): StartView {
  return {
    serverEvent(event) {
      switch (event.type) {
        case "starting": {
          const where = event.placement === "cohosted" ? "" : ` [${event.placement}]`;
          out(`starting ${event.server}${where} at ${event.url}${event.log ? `, log ${event.log}` : ""}`);
          break;
        }
        case "installing":
          out(`installing the packages of ${event.server}`);
          break;
        case "waiting":
          err(terminal.yellow(waitingText(event)));
          break;
        case "ready":
          if (verbose) out(`${event.server} is ready after ${event.milliseconds} ms`);
          break;
        case "log": {
          const line = `(${event.server}) ${event.line}`;
          if (event.level === "info" || event.level === "debug") out(line);
          else err(line);
          break;
        }
        case "lag":
          err(terminal.yellow(lagText(event.lag)));
          break;
        case "crashed":
          break;
      }
    },
    notice: (text) => err(terminal.yellow(text)),
    prepared: () => out("Everything is prepared (dry_run); no server is left running."),
    ready({ instances, headUrl }, seconds) {
      const count = instances.length;
      out("");
      out(terminal.bold(`All ${count} / ${count} servers ready in ${seconds.toFixed(1)} s`));
      for (const server of instances)
        out(
          `  ${terminal.green("✓")} ${server.process_name} (${server.server_type}/${server.name}) ${server.url}`,
        );
      out(`  head server ${headUrl}`);
      out("Press Ctrl-C to stop.");
    },
    restarted(server, outcome) {
      if ("error" in outcome) err(`${terminal.red("✗")} ${server} could not be restarted: ${outcome.error}`);
      else out(`${terminal.green("↻")} ${server} restarted in ${outcome.milliseconds} ms`);
    },
    watching: (count) => out(`watching ${count} server folders`),
    finished: () => out("NeMo Gym finished!"),
  };
}
