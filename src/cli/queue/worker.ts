import path from "node:path";
import type { ResolveOptions } from "../../config/door.ts";
import { runWorker, type WorkerEvent } from "../../run/distributed/door.ts";
import type { CommandContext, FlagValues } from "../command.ts";
import type { workerFlags } from "../commands/distributed.ts";
import { readKeys } from "../config-keys.ts";
import { brokerOf } from "./broker-settings.ts";
import { brokerKeys } from "./keys.ts";

/** Runs `gym worker`. */
export async function worker(
  context: CommandContext,
  flags: FlagValues<typeof workerFlags>,
): Promise<number> {
  const { io, env, signal, out, err } = context;
  const keys = readKeys(brokerKeys, await context.resolve());
  const resolve: ResolveOptions = {
    overrides: context.overrides,
    cwd: io.cwd,
    env: { ...env },
    installRoot: context.installRoot,
    onNotice: (text) => err(text),
    ...context.envFile,
  };
  const show = (event: WorkerEvent) => {
    if (context.json) out(JSON.stringify(jsonEvent(event)));
    else {
      const text = eventText(event, context.verbose);
      if (text !== undefined) err(text);
    }
  };
  const { reason, completed, failed, released } = await runWorker({
    broker: brokerOf(keys, env),
    concurrency: flags.concurrency,
    runs: listOf(flags.runs),
    tags: listOf(flags.tags),
    noServe: flags["no-serve"],
    allowNoSandbox: flags["allow-no-sandbox"],
    storeDirectory: flags.store === undefined ? undefined : path.resolve(io.cwd, flags.store),
    idleSeconds: flags["exit-when-idle"],
    outageSeconds: keys.queue_outage_seconds,
    maxSeconds: flags["max-seconds"],
    drainSeconds: flags["drain-seconds"],
    resolve,
    drain: signal,
    stop: io.stopSignal,
    onEvent: show,
  });
  const text = `Worker ended (${reason}): ${completed} completed, ${failed} failed, ${released} given back.`;
  if (context.json) out(JSON.stringify({ type: "ended", reason, completed, failed, released }));
  else err(text);
  return 0;
}

function listOf(text: string | undefined): string[] | undefined {
  return text
    ?.split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

function jsonEvent(event: WorkerEvent): object {
  if (event.type !== "server") return event;
  const { run, event: inner } = event;
  return inner.type === "log"
    ? { type: "server_log", run, server: inner.server, level: inner.level, line: inner.line }
    : { type: "server", run, event: inner.type };
}

function eventText(event: WorkerEvent, verbose: boolean): string | undefined {
  switch (event.type) {
    case "joined":
      return `Joined run ${event.run} (${event.name}): ${event.agents.join(", ")}.`;
    case "left":
      return `Run ${event.run} is over.`;
    case "notice":
      return event.text;
    case "server": {
      const { event: inner } = event;
      if (inner.type !== "log") return undefined;
      const worth = inner.level === "warn" || inner.level === "error" || verbose;
      return worth ? `(${inner.server}) ${inner.line}` : undefined;
    }
    case "status": {
      const { running, concurrency, completed, failed } = event.record;
      return verbose
        ? `${running} of ${concurrency} running, ${completed} completed, ${failed} failed`
        : undefined;
    }
  }
}
