import { createHash } from "node:crypto";
import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { failure as failureOf } from "../../base/failures.ts";
import type { ResolvedConfig } from "../../config/door.ts";
import { JsonlWriter, LineAccess, type RunManifest } from "../../records/files/door.ts";
import { RolloutKeyMap } from "../../records/metrics/door.ts";
import type { Collection } from "../collect/collect.ts";
import type { CallTarget, Executor, RolloutSink, Tried } from "../collect/collect-contract.ts";
import { answerControl } from "../collect/control.ts";
import type { Failure } from "../collect/outcome.ts";
import { failureRow, lineOf } from "../collect/output-row.ts";
import type { QueuedRow } from "../collect/row-queues.ts";
import { StartedRollout } from "../collect/started-rollout.ts";
import type { RolloutTraces } from "../collect/trace-rollouts.ts";
import { RunBoard, type RunRecord } from "../queue/board.ts";
import { awayTooLong, type Broker, connectBroker } from "../queue/broker.ts";
import { collectorSubject, serveControl } from "../queue/control.ts";
import { JetStreamQueue } from "../queue/jetstream-queue.ts";
import {
  deleteRunStream,
  isStreamMissing,
  openRunStream,
  type RunStreamSettings,
  removeReference,
  renewConsumers,
} from "../queue/run-stream.ts";
import { type ResultHead, type ResultStatus, type RowAddress, StoreServer } from "../queue/store-server.ts";
import type { RolloutRef } from "../queue/subjects.ts";
import type { Run } from "../run.ts";
import type { RunResources } from "../scale/resources.ts";
import { LEASE_SECONDS, MAX_DELIVER, OUTAGE_SECONDS } from "./options.ts";
import type { QueueOptions } from "./queue-options.ts";
import { isRowOf, readResult, readResultRow } from "./read-result.ts";
import { DeliveryWatch, withdrawals } from "./references.ts";
import { SharedResults, shareRun } from "./run-directory.ts";
import { configForWorkers } from "./shared-config.ts";
import { WorkerRoster } from "./worker-roster.ts";

const WATCH_MS = 1_000;
/** Interval between reads of the shared directory. */
const TAKE_MS = 250;
/** Workers are counted once per this many checks. */
const LOOKS_PER_COUNT = 2;

/** Derives the name of a run from its inputs, so that it stays the same when the run is resumed on another machine. */
export function runId({ created_at, materialized_inputs }: RunManifest): string {
  return createHash("sha256")
    .update(`${created_at} ${materialized_inputs.sha256}`)
    .digest("hex")
    .slice(0, 12);
}

interface HubOptions {
  config: ResolvedConfig;
  agents: readonly string[];
  queue: QueueOptions;
  manifest: RunManifest;
  traces?: RolloutTraces;
}

/** The parts of a hub that are opened before it. */
interface HubParts {
  run: string;
  broker: Broker;
  board: RunBoard;
  store: StoreServer;
  late: JsonlWriter;
  record: RunRecord;
  stream: RunStreamSettings;
  /** Whether the stream existed. */
  isResumed: boolean;
  traces: RolloutTraces | undefined;
}

/** Runs rollouts on workers: publishes references, serves rows and receives results. */
export class WorkerHub implements Executor {
  /** Workers on other machines treat a rollout that failed permanently as settled. */
  readonly canRestart = false;
  readonly run: string;
  readonly #opened: Run;
  readonly #notice: (text: string) => void;
  readonly #broker: Broker;
  #board: RunBoard;
  readonly #queue: JetStreamQueue<never>;
  readonly #rows: LineAccess;
  readonly #store: StoreServer;
  readonly #late: JsonlWriter;
  readonly #record: RunRecord;
  readonly #stream: RunStreamSettings;
  readonly #control: { close(): void };
  readonly #shared: SharedResults | undefined;
  readonly #outageSeconds: number;
  #collection: Collection | undefined;
  /** Rollouts at the broker or at a worker. */
  readonly #started = new Map<string, StartedRollout>();
  /** Rollouts whose result is being written. */
  readonly #settling = new Set<string>();
  /** Rollouts that have their result in this session, or were abandoned. */
  readonly #settled = new RolloutKeyMap();
  #watch: NodeJS.Timeout | undefined;
  #take: NodeJS.Timeout | undefined;
  #spent = 0;
  #looks = 0;
  #looking: Promise<void> | undefined;
  readonly #roster: WorkerRoster;
  readonly #deliveries: DeliveryWatch;
  readonly #withdraw: (ref: RolloutRef) => void;
  readonly #traces: RolloutTraces | undefined;

  private constructor(
    notice: (text: string) => void,
    opened: Run,
    outageSeconds: number,
    { run, broker, board, store, late, record, stream, isResumed, traces }: HubParts,
  ) {
    this.#traces = traces;
    this.run = run;
    this.#opened = opened;
    this.#notice = notice;
    this.#broker = broker;
    this.#board = board;
    this.#store = store;
    this.#late = late;
    this.#record = record;
    this.#stream = stream;
    this.#shared = record.directory === null ? undefined : new SharedResults(record.directory);
    this.#outageSeconds = outageSeconds;
    this.#queue = new JetStreamQueue({
      broker,
      onNotice: notice,
      patienceMs: this.#outageSeconds * 1000,
      onFailure: (error) => this.#collection?.fail(error),
    });
    this.#rows = new LineAccess(opened.paths.materializedInputs);
    this.#roster = new WorkerRoster(run, broker, notice);
    this.#deliveries = new DeliveryWatch(run, broker, isResumed);
    this.#withdraw = withdrawals(run, broker, notice);
    this.#control = serveControl(broker, collectorSubject(run), (request) => this.#answer(request));
  }

  static async open(
    opened: Run,
    { config, agents, queue, manifest, traces }: HubOptions,
  ): Promise<WorkerHub> {
    const { paths, rollouts, notice } = opened;
    const run = runId(manifest);
    const broker = await connectBroker(queue.broker, { name: `gym collector ${run}`, onNotice: notice });
    let store: StoreServer | undefined;
    try {
      const leaseMs = (queue.leaseSeconds ?? LEASE_SECONDS) * 1000;
      const board = await RunBoard.open(broker);
      const stream = { run, agents, leaseMs, maxDeliver: queue.maxDeliver ?? MAX_DELIVER };
      const isResumed = await openRunStream(broker.jsm, stream);
      const text = configForWorkers(config);
      const directory = queue.storeDirectory === undefined ? null : path.join(queue.storeDirectory, run);
      if (directory !== null) await shareRun(directory, { config: text, inputs: paths.materializedInputs });
      let hub: WorkerHub | undefined;
      store = await StoreServer.listen(
        {
          config: () => text,
          rows: (addresses) => (hub ? hub.#rowsAt(addresses) : unready()),
          result: (head, line) => (hub ? hub.#result(head, line) : unready()),
        },
        queue.storeHost ?? ownAddress(broker),
        queue.storePort,
      );
      const record: RunRecord = {
        run,
        name: path.basename(paths.output),
        created: manifest.created_at,
        version: opened.plan.gymVersion,
        state: "running",
        total: rollouts.summary.materializedRows,
        agents: agents.map((name) => ({
          name,
          weight: queue.weights?.[name] ?? 1,
          needs: [...(queue.needs?.[name] ?? [])],
        })),
        store: { url: store.url, token: store.token },
        directory,
        workers: [],
        lease_ms: leaseMs,
        rollout_timeout_ms: opened.plan.limits.rolloutTimeoutMs,
      };
      const late = await JsonlWriter.open(paths.lateResults);
      const { outageSeconds = OUTAGE_SECONDS } = queue;
      const parts = { run, broker, board, store, late, record, stream, isResumed, traces };
      hub = new WorkerHub(notice, opened, outageSeconds, parts);
      return hub;
    } catch (error) {
      await store?.close();
      await broker.close();
      throw error;
    }
  }

  /** Dollars spent by workers and by earlier sessions. */
  get spent(): number {
    return this.#spent;
  }

  /** Publishes the run, so that workers can join it; their results go to this collection. */
  async attach(collection: Collection): Promise<void> {
    this.#collection = collection;
    // Spending of lost workers in an earlier session is recorded at the broker, or computed from its rollouts.
    const noted = await this.#board.spending(this.run);
    if (noted.size === 0 && this.#opened.spentEarlier > 0)
      await this.#board.putSpending(this.run, "earlier", this.#opened.spentEarlier);
    await this.#takeEarlier();
    await this.#board.putRun(this.#record);
    this.#watch = setInterval(() => {
      if (this.#broker.awayMs() > this.#outageSeconds * 1000)
        collection.fail(awayTooLong(this.#broker, this.#outageSeconds));
      void this.#look();
    }, WATCH_MS);
    if (this.#shared) this.#take = setInterval(() => void this.#takeShared(), TAKE_MS);
    const where = [this.#store.url, this.#record.directory].filter((each) => each !== null).join(" and in ");
    this.#notice(
      `Run ${this.run} waits for workers: gym worker --queue nats://${this.#broker.name} (rows and results at ${where}).`,
    );
  }

  /** Accepts results that a killed collector did not read. Results that it did read are not recorded as late. */
  async #takeEarlier(): Promise<void> {
    try {
      await this.#shared?.take(async (head, line) => {
        if (!this.#isSettled(head.task, head.rollout) && head.status === "completed")
          await this.#result(head, line);
      });
    } catch (error) {
      // Rollouts whose results could not be read run again.
      this.#notice(errorMessage(error));
    }
  }

  async #takeShared(): Promise<void> {
    try {
      await this.#shared?.take((head, line) => this.#result(head, line));
    } catch (error) {
      // The worker considers these results saved, so only a resumed run publishes the rollouts again.
      this.#collection?.withdraw(errorMessage(error));
    }
  }

  target({ agent }: QueuedRow): CallTarget {
    return { server: agent, path: "/run", stage: "run" };
  }

  start(rollout: StartedRollout): Promise<void> {
    this.#started.set(rollout.id, rollout);
    this.#traces?.queued(rollout);
    return this.#enqueue(rollout);
  }

  #enqueue({ queued }: StartedRollout): Promise<void> {
    const { agent, taskIndex, rolloutIndex } = queued;
    // The worker reads the row itself.
    queued.row = { _ng_task_index: taskIndex, _ng_rollout_index: rolloutIndex, agent_ref: { name: agent } };
    return this.#queue.enqueue(this.#refOf(queued));
  }

  #refOf({ agent, taskIndex, rolloutIndex, attempt, offset = 0, trace }: QueuedRow): RolloutRef {
    return { run: this.run, agent, task: taskIndex, rollout: rolloutIndex, attempt, at: offset, trace };
  }

  /** Withdraws the rollout from the broker or its worker. It counts as cancelled at once; a later result is late. */
  stop(rollout: StartedRollout, reason: string): void {
    const { taskIndex, rolloutIndex } = rollout.queued;
    if (this.#settling.has(rollout.id)) return;
    this.#settled.set(taskIndex, rolloutIndex, 0);
    this.#withdraw(this.#refOf(rollout.queued));
    // The collection ends by itself if the result cannot be recorded.
    void this.#settle(rollout, { status: "cancelled", message: reason }).catch(() => {});
  }

  /** A worker may deliver the result of an earlier session before this session reaches the row. */
  isOver({ taskIndex, rolloutIndex }: QueuedRow): boolean {
    return this.#isSettled(taskIndex, rolloutIndex);
  }

  /** Workers wait for their own servers, so no rollout is reported as unreachable. */
  async probe(): Promise<void> {}

  #isSettled(taskIndex: number, rolloutIndex: number): boolean {
    return (
      this.#settled.has(taskIndex, rolloutIndex) || this.#opened.rollouts.isDone(taskIndex, rolloutIndex)
    );
  }

  /** Whether a worker that has this attempt should run it. */
  #isWanted(taskIndex: number, rolloutIndex: number, attempt: number): boolean {
    const current = this.#started.get(`${taskIndex}-${rolloutIndex}`)?.attempt;
    return !this.#isSettled(taskIndex, rolloutIndex) && (current ?? attempt) === attempt;
  }

  /**
   * Accepts the result of a worker. The first success of a rollout counts. A failure counts only for the expected
   * attempt: a disconnected worker may report one after another worker has replaced it.
   */
  async #accept(queued: QueuedRow, result: Tried): Promise<ResultStatus> {
    const { taskIndex, rolloutIndex, attempt } = queued;
    const id = `${taskIndex}-${rolloutIndex}`;
    if (this.#isSettled(taskIndex, rolloutIndex) || this.#settling.has(id)) return "late";
    const known = this.#started.get(id);
    if (result.status !== "completed" && known?.attempt !== attempt) return "superseded";
    await this.#settle(known ?? new StartedRollout(queued, this.target(queued), null), result);
    return "counted";
  }

  /** Passes a result to the collection. Resolves when it is written. */
  async #settle(rollout: StartedRollout, result: Tried): Promise<void> {
    const { taskIndex, rolloutIndex } = rollout.queued;
    const sink: RolloutSink = this.#collection ?? unready();
    this.#settling.add(rollout.id);
    this.#traces?.settled(rollout, result);
    if (result.status === "completed") this.#settled.set(taskIndex, rolloutIndex, 0);
    try {
      const willRetry = await sink.settle(rollout, result);
      if (!willRetry) this.#settled.set(taskIndex, rolloutIndex, 0);
    } finally {
      this.#settling.delete(rollout.id);
      if (this.#started.get(rollout.id) === rollout) this.#started.delete(rollout.id);
    }
  }

  /** Stops workers from pulling rollouts. Resolves when they have finished the running ones, or the signal fires. */
  async drain(signal: AbortSignal | undefined): Promise<void> {
    const collection = this.#collection;
    collection?.pause();
    await this.#look();
    while (!signal?.aborted && collection !== undefined && collection.running.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, WATCH_MS / 2));
      if (!(await this.#roster.anyRunning(this.#board).catch(() => true))) break;
    }
    this.stopPublishing();
    collection?.withdraw("interrupted");
  }

  /** Stops publishing, even if references wait for space at the broker. */
  stopPublishing(): void {
    this.#queue.stopPublishing();
  }

  /** Publishes the number of workers that share limits. */
  async #countWorkers(): Promise<void> {
    const ids = await this.#roster.idsByAge(this.#board);
    if (ids.join() === this.#record.workers.join()) return;
    this.#record.workers = ids;
    await this.#board.putRun(this.#record);
  }

  /** Resources used by each worker. */
  resources(): Promise<RunResources["workers"]> {
    return this.#roster.resources(this.#board);
  }

  #rowsAt(addresses: readonly RowAddress[]): (string | null)[] {
    return addresses.map(([task, rollout, attempt, at]) => {
      return this.#isWanted(task, rollout, attempt) ? this.#rows.lineAt(at) : null;
    });
  }

  async #result(head: ResultHead, line: string): Promise<ResultStatus> {
    const { task: taskIndex, rollout: rolloutIndex, attempt, agent } = head;
    if (!this.#collection) return unready();
    this.#checkRollout(head);
    this.#deliveries.resultCame();
    const result = readResult(head, line, this.#opened.paths.output);
    const verdict = await this.#accept({ taskIndex, rolloutIndex, attempt, agent, row: {} }, result);
    if (verdict !== "counted" && line !== "") await this.#late.append(line);
    return verdict;
  }

  /**
   * A rollout that is not in flight may belong to an earlier session: the row that it names shows that it belongs to
   * this run.
   */
  #checkRollout({ task, rollout, at }: ResultHead): void {
    if (this.#started.has(`${task}-${rollout}`) || this.#isSettled(task, rollout)) return;
    const file = this.#opened.paths.materializedInputs;
    if (!isRowOf({ task, rollout }, readResultRow(this.#rows.lineAt(at), file)))
      throw new Error(`rollout ${rollout} of task ${task} does not belong to this run`);
  }

  /** Publishes a pause, and abandons references that the broker no longer delivers. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookNow().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    const collection = this.#collection;
    if (!collection) return;
    try {
      const state = collection.paused ? "paused" : "running";
      if (this.#record.state !== state) {
        this.#record.state = state;
        await this.#board.putRun(this.#record);
      }
      const spending = await this.#board.spending(this.run);
      this.#spent = [...spending.values()].reduce((sum, dollars) => sum + dollars, 0);
      if (this.#looks++ % LOOKS_PER_COUNT === 0) await this.#countWorkers();
      const isWaiting = collection.inFlight > 0 && this.#queue.publishing === 0;
      const { areLost, areStuck, exhausted } = await this.#deliveries.look(isWaiting);
      if (areLost) await this.#publishAgain(collection);
      if (areStuck) await this.#deliverAgain();
      for (const ref of exhausted) await this.#giveUp(ref);
    } catch (error) {
      if (isStreamMissing(error)) await this.#publishAgain(collection).catch(() => {});
      // On any other error the broker is unreachable; the next check tries again.
    }
  }

  async #publishAgain(collection: Collection): Promise<void> {
    this.#notice(
      `The broker at ${this.#broker.name} lost the messages of this run; ${collection.inFlight} rollouts are sent again.`,
    );
    this.#board = await RunBoard.open(this.#broker);
    await openRunStream(this.#broker.jsm, this.#stream);
    await this.#board.putRun(this.#record);
    // The queue ignores references that it still holds.
    for (const rollout of [...this.#started.values()]) await this.#enqueue(rollout);
  }

  /** Rollouts that are running may run a second time; the first result of each counts. */
  async #deliverAgain(): Promise<void> {
    this.#notice(
      `The broker at ${this.#broker.name} holds rollouts that it does not deliver; it delivers all of them again.`,
    );
    await renewConsumers(this.#broker.jsm, this.#stream);
  }

  async #giveUp(ref: RolloutRef): Promise<void> {
    const { agent, task: taskIndex, rollout: rolloutIndex, attempt } = ref;
    const deliveries = this.#stream.maxDeliver;
    const message = `${deliveries} workers started this rollout and none returned a result; it may be crashing them`;
    const failure: Failure = { ...failureOf("worker_lost", message), stage: "run" };
    const input = JSON.parse(this.#rows.lineAt(ref.at)) as Record<string, unknown>;
    const line = lineOf(failureRow(failure, input));
    const result: Tried = { status: "failed", failure, persist: true, line };
    await this.#accept({ taskIndex, rolloutIndex, attempt, agent, row: {} }, result);
    await removeReference(this.#broker.jsm, ref);
  }

  async #answer(request: string): Promise<object> {
    if (!this.#collection) return { ok: false, error: "the run is starting" };
    const answer = answerControl(this.#collection, this.#opened.paths.output, request);
    await this.#look();
    return { ...answer, run: this.run, workers: await this.#roster.list(this.#board) };
  }

  /** The results are in the files of the run at this point. */
  async #removeShared(): Promise<void> {
    await this.#takeShared();
    await this.#shared?.remove().catch((error: unknown) => {
      this.#notice(`The shared directory of the run could not be removed: ${errorMessage(error)}`);
    });
  }

  /** Ends the run at the broker. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    clearInterval(this.#take);
    this.#control.close();
    await this.#queue.close();
    try {
      await this.#board.removeRun(this.run);
      await deleteRunStream(this.#broker.jsm, this.run);
    } catch (error) {
      this.#notice(
        `The run could not be removed from the broker (gym queue purge ${this.run}): ${errorMessage(error)}`,
      );
    }
    await this.#store.close();
    await this.#removeShared();
    await this.#late.close();
    this.#rows.close();
    await this.#broker.close();
  }
}

function unready(): never {
  throw new Error("the run is starting");
}

/** The address of this machine as seen by the broker. */
function ownAddress({ connection }: Broker): string {
  const address = connection.info?.client_ip;
  return address === undefined || address === "" ? "127.0.0.1" : address;
}
