import type { RunBoard, WorkerRecord } from "../queue/board.ts";
import type { Broker } from "../queue/broker.ts";
import { askControl, workerSubject } from "../queue/control.ts";
import type { RunResources } from "../scale/resources.ts";

/** The workers of a run, as the collector sees them. */
export class WorkerRoster {
  readonly #run: string;
  readonly #broker: Broker;
  readonly #onNotice: (text: string) => void;
  /** Reported reasons why workers could not join. */
  readonly #problems = new Set<string>();
  /** The last record of each worker that took part. */
  readonly #seen = new Map<string, WorkerRecord>();

  constructor(run: string, broker: Broker, onNotice: (text: string) => void) {
    this.#run = run;
    this.#broker = broker;
    this.#onNotice = onNotice;
  }

  /** The workers that serve the run. Problems of others are reported. */
  async list(board: RunBoard): Promise<WorkerRecord[]> {
    const all = await board.workers();
    for (const { worker, problems } of all) this.#reportProblem(worker, problems?.[this.#run]);
    const workers = all.filter(({ runs }) => runs[this.#run] !== undefined);
    for (const record of workers) this.#seen.set(record.worker, record);
    return workers;
  }

  /** Worker ids, oldest first, so that a new worker does not change the position of the others. */
  async idsByAge(board: RunBoard): Promise<string[]> {
    const workers = await this.list(board);
    workers.sort((a, b) =>
      a.started === b.started ? (a.worker < b.worker ? -1 : 1) : a.started < b.started ? -1 : 1,
    );
    return workers.map(({ worker }) => worker);
  }

  /** Whether a responding worker runs rollouts of the run. */
  async anyRunning(board: RunBoard): Promise<boolean> {
    return (await this.#ask(board)).some(({ runs }) => (runs[this.#run] ?? 0) > 0);
  }

  /** For lost workers, their last report counts. */
  async resources(board: RunBoard): Promise<RunResources["workers"]> {
    for (const record of await this.#ask(board)) this.#seen.set(record.worker, record);
    const found: RunResources["workers"] = {};
    for (const { worker, resources } of this.#seen.values())
      if (resources) found[worker] = resources as RunResources["workers"][string];
    return found;
  }

  /** Asks the workers of the run for their current state; omits workers that do not answer. */
  async #ask(board: RunBoard): Promise<WorkerRecord[]> {
    const ask = ({ worker }: WorkerRecord) =>
      askControl<WorkerRecord>(this.#broker, workerSubject(worker), { command: "show" }, worker);
    const answers = await Promise.allSettled((await this.list(board)).map(ask));
    return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  }

  /** Many workers often have the same problem, so it is reported once. */
  #reportProblem(worker: string, problem: string | undefined): void {
    if (problem === undefined || this.#problems.has(problem)) return;
    this.#problems.add(problem);
    this.#onNotice(`Worker ${worker} cannot join the run: ${problem}`);
  }
}
