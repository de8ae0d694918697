import type { RunEvent, RunningServers } from "../../hosting/processes/run-servers.ts";
import { waitingText } from "../../hosting/processes/start-watch.ts";
import type { CommandContext } from "../command.ts";
import { serverJsonEvent } from "../eval/json-events.ts";
import { lagText } from "../render/server-text.ts";

/** The output of `gym env start`. */
export interface StartView {
  serverEvent(event: RunEvent): void;
  notice(text: string): void;
  prepared(): void;
  ready(servers: RunningServers, seconds: number): void;
  /** A watched server was restarted, or the restart failed. */
  restarted(server: string, outcome: { milliseconds: number } | { error: string }): void;
  watching(count: number): void;
  finished(): void;
}

export function startView(context: CommandContext): StartView {
  return context.json ? jsonView(context) : textView(context);
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
    prepared: () => out("Everything is prepared (dry_run); nothing is kept running."),
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
