import { GymError } from "../../errors.ts";
import { Board, type RunRecord, type WorkerRecord } from "../../queue/board.ts";
import type { Broker } from "../../queue/broker.ts";
import { askControl, collectorSubject, workerSubject } from "../../queue/control.ts";
import { QueueError } from "../../queue/errors.ts";
import type { ControlAnswer } from "../../rollouts/collect/control.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { requestOf } from "../eval/ctl.ts";
import { progressLines } from "../eval/progress-lines.ts";
import { showQueue, withBroker } from "./broker.ts";

type QueuedAnswer = ControlAnswer & { run?: string; workers?: WorkerRecord[] };

/** Runs `gym eval ctl --queue`: asks the collector or the workers of a distributed run, wherever they are. */
export async function controlQueuedRun(context: CommandContext): Promise<number> {
  const action = (context.positionals["ACTION"] as string | undefined) ?? "list";
  const value = context.positionals["VALUE"] as string | undefined;
  const worker = context.flags["worker"] as string | undefined;
  if (context.flags["pid"] !== undefined)
    throw new UsageError("--pid is for runs on this machine; use --run with --queue");
  if (worker !== undefined && action !== "concurrency") throw new UsageError("--worker is for concurrency");
  if (action === "list") return showQueue(context);
  if (action === "drain") {
    if (value === undefined)
      throw new UsageError("drain needs the id of a worker, as `gym queue status` lists them, or all");
    return askWorkers(context, value, { command: "drain" });
  }
  const request = requestOf(action, value);
  return worker === undefined ? askCollector(context, request) : askWorkers(context, worker, request);
}

function askCollector(context: CommandContext, request: object): Promise<number> {
  const { out, terminal } = context;
  return withBroker(context, async (broker) => {
    const { run, name } = await chooseRun(
      await Board.open(broker),
      context.flags["run"] as string | undefined,
    );
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

async function chooseRun(board: Board, given: string | undefined): Promise<RunRecord> {
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
    const answers = await Promise.all(
      workers.map((worker) =>
        askControl<WorkerRecord & { ok: boolean; error?: string }>(
          broker,
          workerSubject(worker),
          request,
          `Worker ${worker}`,
        ),
      ),
    );
    if (context.json) out(JSON.stringify(answers));
    for (const { ok, error, worker, state, running, concurrency } of answers) {
      if (!ok) throw new GymError("EVAL_CTL", error ?? "the worker refused");
      if (!context.json) out(`${worker} ${state}, ${running} of ${concurrency} running`);
    }
    return 0;
  });
}

async function chooseWorkers(broker: Broker, which: string): Promise<string[]> {
  const known = (await (await Board.open(broker)).workers()).map(({ worker }) => worker);
  if (which === "all") return known;
  if (known.includes(which)) return [which];
  const list = known.join(", ") || "none";
  throw new QueueError("QUEUE_WORKER_UNKNOWN", `There is no worker '${which}'. Workers: ${list}.`);
}
