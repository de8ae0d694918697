import path from "node:path";
import { searchRoots, workingRoot } from "../../config/paths.ts";
import type { ResolvedConfig } from "../../config/resolve.ts";
import type { RunEvent, RunningServers } from "../../server/run/run-servers.ts";
import { startFromConfig } from "../../server/run/start-from-config.ts";
import type { CommandContext } from "../command.ts";
import { refuseUnusedModelUrl } from "./model-flags.ts";
import { watchServers } from "./watch.ts";

/** Runs `gym env start`: everything up, shown, and down again on Ctrl-C. */
export async function startServers(context: CommandContext): Promise<number> {
  const { flags, signal, out, err, terminal, io, env, installRoot } = context;
  const config = await context.resolve();
  refuseUnusedModelUrl(flags, config);
  const roots = searchRoots({ cwd: io.cwd, env, installRoot });
  const started = Date.now();
  const show = showEvent(context);
  let servers: RunningServers;
  try {
    servers = await startFromConfig(config, {
      roots,
      installRoot,
      onEvent: show,
      signal,
      ownsProcess: true,
      logDirectory: path.join(resultsDirectory(config, context), "logs", timestamp()),
      ...(flags["watch"] && { hosting: "process" as const }),
    });
  } catch (error) {
    if (signal.aborted) {
      out("NeMo Gym finished!");
      return 0;
    }
    throw error;
  }
  try {
    if (config.get("dry_run") === true) {
      out("Everything is prepared (dry_run); nothing is kept running.");
      return 0;
    }
    if (!flags["no-preflight"]) {
      const { checkModelEndpoints } = await import("./preflight.ts");
      await checkModelEndpoints(config, { signal, onNotice: (text) => err(terminal.yellow(text)) });
    }
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    out("");
    out(
      terminal.bold(
        `All ${servers.instances.length} / ${servers.instances.length} servers ready in ${seconds} s`,
      ),
    );
    for (const server of servers.instances) {
      out(
        `  ${terminal.green("✓")} ${server.process_name} (${server.server_type}/${server.name}) ${server.url}`,
      );
    }
    out(`  head server ${servers.headUrl}`);
    out("Press Ctrl-C to stop.");
    const watcher = flags["watch"] ? watchServers(servers, context) : undefined;
    try {
      await Promise.race([aborted(signal), servers.crashed]);
    } finally {
      watcher?.close();
    }
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    throw error;
  } finally {
    await servers.close();
    out("NeMo Gym finished!");
  }
}

/** Below the working directory unless somebody chose a place: the default of the key may be the checkout. */
function resultsDirectory(config: ResolvedConfig, { io, installRoot }: CommandContext): string {
  const chosen = String(config.get("results_dir") ?? "");
  const preset = path.join(workingRoot(io.cwd, installRoot), "results");
  return chosen === "" || chosen === preset ? path.join(io.cwd, "results") : chosen;
}

function showEvent({ out, err, terminal, verbose }: CommandContext): (event: RunEvent) => void {
  return (event) => {
    switch (event.type) {
      case "starting": {
        const where = event.placement === "cohosted" ? "" : ` [${event.placement}]`;
        out(`starting ${event.server}${where} at ${event.url}${event.log ? `, log ${event.log}` : ""}`);
        break;
      }
      case "installing":
        out(`installing the packages of ${event.server}`);
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
      case "lag": {
        const { lagMs, server, path: route, heldMs } = event.lag;
        const blame = server ? `; ${server} ${route} held it for ${Math.round(heldMs)} ms` : "";
        err(terminal.yellow(`The event loop lagged ${Math.round(lagMs)} ms${blame}.`));
        break;
      }
      case "crashed":
        break;
    }
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function timestamp(): string {
  return new Date().toISOString().replace(/[:.]/g, "-").slice(0, 19);
}
