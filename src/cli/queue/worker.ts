import path from "node:path";
import type { ResolveOptions } from "../../config/resolve.ts";
import type { WorkerEvent } from "../../run/distributed/options.ts";
import { runWorker } from "../../run/distributed/worker.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { brokerOf } from "./broker-settings.ts";
import { brokerKeys } from "./keys.ts";

/** Runs `gym worker`. */
export async function worker(context: CommandContext): Promise<number> {
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
  const storeDirectory = context.flags["store"] as string | undefined;
  const show = (event: WorkerEvent) => {
    if (context.json) out(JSON.stringify(jsonEvent(event)));
    else {
      const text = eventText(event, context.verbose);
      if (text !== undefined) err(text);
    }
  };
  const { reason, completed, failed, released } = await runWorker({
    broker: brokerOf(keys, env),
    concurrency: numberOf(context, "concurrency", 1),
    runs: listOf(context.flags["runs"]),
    tags: listOf(context.flags["tags"]),
    noServe: Boolean(context.flags["no-serve"]),
    storeDirectory: storeDirectory === undefined ? undefined : path.resolve(io.cwd, storeDirectory),
    idleSeconds: numberOf(context, "exit-when-idle", 0),
    outageSeconds: keys.queue_outage_seconds,
    maxSeconds: numberOf(context, "max-seconds", 0),
    drainSeconds: numberOf(context, "drain-seconds", 0),
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

function numberOf({ flags }: CommandContext, name: string, minimum: number): number | undefined {
  const text = flags[name] as string | undefined;
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === "" || !(value >= minimum))
    throw new UsageError(`--${name} must be a number of at least ${minimum}`);
  return value;
}

function listOf(text: unknown): string[] | undefined {
  const items = typeof text === "string" ? text.split(",").map((item) => item.trim()) : [];
  return items.length === 0 ? undefined : items.filter((item) => item !== "");
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
