import { Board } from "../../queue/board.ts";
import { type Broker, connectBroker } from "../../queue/broker.ts";
import { askControl, collectorSubject } from "../../queue/control.ts";
import { deleteRunStream, runStreamStats } from "../../queue/run-stream.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { renderTable } from "../render/table.ts";
import { brokerOf } from "./broker-settings.ts";
import { brokerKeys } from "./keys.ts";

/** Connects to the broker of a command while `use` runs. */
export async function withBroker<T>(
  context: CommandContext,
  use: (broker: Broker) => Promise<T>,
): Promise<T> {
  const keys = readKeys(brokerKeys, await context.resolve());
  const broker = await connectBroker(brokerOf(keys, context.env), { name: "gym", onNotice: context.err });
  try {
    return await use(broker);
  } finally {
    await broker.close();
  }
}

/** State of a run whose collector was killed or disconnected. */
const NO_COLLECTOR = "no collector";

/** Runs `gym queue status`. */
export function showQueue(context: CommandContext): Promise<number> {
  const { out, terminal } = context;
  return withBroker(context, async (broker) => {
    const board = await Board.open(broker);
    const workers = await board.workers();
    const runs = await Promise.all(
      (await board.runs()).map(async ({ store: _store, ...record }) => {
        const { waiting, leased, byAgent } = await runStreamStats(broker.jsm, record.run);
        const state = (await hasCollector(broker, record.run)) ? record.state : NO_COLLECTOR;
        return { ...record, state, waiting, leased, by_agent: byAgent };
      }),
    );
    if (context.json) {
      out(JSON.stringify({ broker: broker.name, runs, workers }));
      return 0;
    }
    if (runs.length === 0) out("No runs.");
    else
      out(
        renderTable(
          {
            title: `Runs at ${broker.name}`,
            columns: ["run", "output", "state", "rollouts", "waiting", "leased", "agents"],
            rows: runs.map((run) => [
              run.run,
              run.name,
              run.state,
              String(run.total),
              String(run.waiting),
              String(run.leased),
              run.agents
                .map(({ name, weight }) => (weight === 1 ? name : `${name} (weight ${weight})`))
                .join("\n"),
            ]),
          },
          terminal,
        ),
      );
    for (const { run, name, state } of runs)
      if (state === NO_COLLECTOR)
        out(
          `The collector of run ${run} does not answer. Continue the run with \`gym eval run ... -o ${name} --resume\`, or remove it with \`gym queue purge ${run}\`.`,
        );
    if (workers.length === 0) out("No workers.");
    else
      out(
        renderTable(
          {
            title: "Workers",
            columns: ["worker", "state", "running", "concurrency", "completed", "failed", "tags", "runs"],
            rows: workers.map((worker) => [
              worker.worker,
              worker.state,
              worker.undelivered > 0
                ? `${worker.running} (${worker.undelivered} undelivered)`
                : String(worker.running),
              `${worker.concurrency}${worker.automatic_concurrency ? " (automatic)" : ""}`,
              String(worker.completed),
              String(worker.failed),
              worker.tags.join(", "),
              Object.keys(worker.runs).join("\n"),
            ]),
          },
          terminal,
        ),
      );
    return 0;
  });
}

async function hasCollector(broker: Broker, run: string): Promise<boolean> {
  return askControl(broker, collectorSubject(run), { command: "show" }, `The collector of run ${run}`).then(
    () => true,
    () => false,
  );
}

/** Runs `gym queue purge`. */
export function purgeQueue(context: CommandContext): Promise<number> {
  const { out } = context;
  const given = context.positionals["RUN"] as string | undefined;
  const all = Boolean(context.flags["all"]);
  if ((given === undefined) === !all) throw new UsageError("purge needs the id of a run, or --all");
  return withBroker(context, async (broker) => {
    const board = await Board.open(broker);
    const runs =
      given === undefined ? (await board.runs()).map(({ run }) => run) : [(await board.run(given)).run];
    for (const run of runs) {
      await board.removeRun(run);
      await deleteRunStream(broker.jsm, run);
    }
    if (context.json) out(JSON.stringify({ removed: runs }));
    else out(runs.length === 0 ? "No runs." : `Removed ${runs.join(", ")}.`);
    return 0;
  });
}
