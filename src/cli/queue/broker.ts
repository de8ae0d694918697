import { GymError } from "../../base/errors.ts";
import type { ControlAnswer } from "../../run/light-door.ts";
import {
  askControl,
  type Broker,
  collectorSubject,
  connectBroker,
  deleteRunStream,
  QueueError,
  RunBoard,
  type RunRecord,
  runStreamStats,
  type WorkerRecord,
  workerSubject,
} from "../../run/queue/door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { type ControlArguments, requestOf } from "../eval/ctl.ts";
import { progressLines } from "../eval/progress-lines.ts";
import { renderTable } from "../render/table.ts";
import { brokerOf } from "./broker-settings.ts";
import { brokerKeys } from "./keys.ts";

/** Connects to the broker of a command while `use` runs. */
async function withBroker<T>(context: CommandContext, use: (broker: Broker) => Promise<T>): Promise<T> {
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
    const board = await RunBoard.open(broker);
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
    const runRows = runs.map(({ run, name, state, total, waiting, leased, agents }) => [
      run,
      name,
      state,
      String(total),
      String(waiting),
      String(leased),
      agents
        .map((agent) => (agent.weight === 1 ? agent.name : `${agent.name} (weight ${agent.weight})`))
        .join("\n"),
    ]);
    const runColumns = ["run", "output", "state", "rollouts", "waiting", "leased", "agents"];
    const title = `Runs at ${broker.name}`;
    if (runs.length === 0) out("No runs.");
    else out(renderTable({ title, columns: runColumns, rows: runRows }, terminal));
    for (const { run, name, state } of runs)
      if (state === NO_COLLECTOR)
        out(
          `The collector of run ${run} does not answer. Continue the run with \`gym eval run ... -o ${name} --resume\`, or remove it with \`gym queue purge ${run}\`.`,
        );
    const workerRows = workers.map((worker) => [
      worker.worker,
      worker.state,
      `${worker.running}${worker.undelivered > 0 ? ` (${worker.undelivered} undelivered)` : ""}`,
      `${worker.concurrency}${worker.automatic_concurrency ? " (automatic)" : ""}`,
      String(worker.completed),
      String(worker.failed),
      worker.tags.join(", "),
      Object.keys(worker.runs).join("\n"),
    ]);
    const columns = ["worker", "state", "running", "concurrency", "completed", "failed", "tags", "runs"];
    if (workers.length === 0) out("No workers.");
    else out(renderTable({ title: "Workers", columns, rows: workerRows }, terminal));
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
export function purgeQueue(
  context: CommandContext,
  given: string | undefined,
  all: boolean,
): Promise<number> {
  const { out } = context;
  if ((given === undefined) === !all) throw new UsageError("purge needs the id of a run, or --all");
  return withBroker(context, async (broker) => {
    const board = await RunBoard.open(broker);
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

type QueuedAnswer = ControlAnswer & { run?: string; workers?: WorkerRecord[] };

/** Runs `gym eval ctl --queue`: asks the collector or the workers of a distributed run, wherever they are. */
export async function controlQueuedRun(
  context: CommandContext,
  { action, value, pid, run, worker }: ControlArguments,
): Promise<number> {
  if (pid !== undefined) throw new UsageError("--pid is for runs on this machine; use --run with --queue");
  if (worker !== undefined && action !== "concurrency") throw new UsageError("--worker is for concurrency");
  if (action === "list") return showQueue(context);
  if (action === "drain") {
    if (value === undefined)
      throw new UsageError("drain needs the id of a worker, as `gym queue status` lists them, or all");
    return askWorkers(context, value, { command: "drain" });
  }
  const request = requestOf(action, value);
  return worker === undefined ? askCollector(context, run, request) : askWorkers(context, worker, request);
}

function askCollector(context: CommandContext, given: string | undefined, request: object): Promise<number> {
  const { out, terminal } = context;
  return withBroker(context, async (broker) => {
    const { run, name } = await chooseRun(await RunBoard.open(broker), given);
    const subject = collectorSubject(run);
    const answer = await askControl<QueuedAnswer>(broker, subject, request, `The collector of run ${run}`);
    if (context.json) out(JSON.stringify(answer));
    if (!answer.ok) throw new GymError("EVAL_CTL", answer.error);
    if (context.json) return 0;
    out(`${run}${answer.paused ? " (paused)" : ""} ${name}`);
    for (const line of progressLines(answer, terminal.width, terminal)) out(line);
    for (const { worker, state, running, concurrency } of answer.workers ?? [])
      out(`  ${worker} ${state}, ${running} of ${concurrency} running`);
    return 0;
  });
}

async function chooseRun(board: RunBoard, given: string | undefined): Promise<RunRecord> {
  if (given !== undefined) return board.run(given);
  const runs = await board.runs();
  const [only] = runs;
  if (only && runs.length === 1) return only;
  if (!only) throw new QueueError("QUEUE_RUN_UNKNOWN", "The broker has no runs.");
  const known = runs.map(({ run }) => run).join(", ");
  throw new QueueError("QUEUE_RUN_UNKNOWN", `The broker has several runs; choose one with --run: ${known}.`);
}

function askWorkers(context: CommandContext, which: string, request: object): Promise<number> {
  const { out } = context;
  return withBroker(context, async (broker) => {
    const workers = await chooseWorkers(broker, which);
    type Answer = WorkerRecord & { ok: boolean; error?: string };
    const answers = await Promise.all(
      workers.map((worker) => askControl<Answer>(broker, workerSubject(worker), request, `Worker ${worker}`)),
    );
    if (context.json) out(JSON.stringify(answers));
    for (const { ok, error, worker, state, running, concurrency } of answers) {
      if (!ok) throw new GymError("EVAL_CTL", error ?? "the worker rejected");
      if (!context.json) out(`${worker} ${state}, ${running} of ${concurrency} running`);
    }
    return 0;
  });
}

async function chooseWorkers(broker: Broker, which: string): Promise<string[]> {
  const known = (await (await RunBoard.open(broker)).workers()).map(({ worker }) => worker);
  if (which === "all") return known;
  if (known.includes(which)) return [which];
  const list = known.join(", ") || "none";
  throw new QueueError("QUEUE_WORKER_UNKNOWN", `There is no worker '${which}'. Workers: ${list}.`);
}
