import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { errorMessage } from "../../errors.ts";
import { leastSharedLimit, shareAmongWorkers } from "../../model-endpoint/limit-shares.ts";
import { Board, type RunRecord, WORKER_REPORT_MS, type WorkerRecord } from "../../queue/board.ts";
import { awayTooLong, type Broker, connectBroker } from "../../queue/broker.ts";
import { serveControl, workerSubject } from "../../queue/control.ts";
import type { QueueError } from "../../queue/errors.ts";
import { JetStreamQueue } from "../../queue/jetstream-queue.ts";
import type { Lease } from "../../queue/queue.ts";
import type { RolloutRef } from "../../queue/subjects.ts";
import { ConcurrencyLimit } from "../../rollouts/collect/concurrency.ts";
import { RolloutCancelled } from "../../rollouts/collect/outcome.ts";
import type { RunResult } from "../../rollouts/collect/rollout-runner.ts";
import type { StartedRollout } from "../../rollouts/collect/started-rollout.ts";
import { ResourceMeter } from "../scale/resource-meter.ts";
import { JoinedRun } from "./joined-run.ts";
import { SharedBudget } from "./shared-budget.ts";
import { SharedLimits } from "./shared-limits.ts";
import type { WorkerOptions, WorkerSummary } from "./worker-contract.ts";
import { OUTAGE_SECONDS } from "./worker-hub.ts";

const atOnce = (work: () => Promise<void>): Promise<void> => work();

/** Does work one after the other, in random order. */
class OneAtATime {
  readonly #waiting: (() => void)[] = [];
  #busy = false;

  async run(work: () => Promise<void>): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy = true;
    try {
      await work();
    } finally {
      const [next] = this.#waiting.splice(Math.floor(Math.random() * this.#waiting.length), 1);
      if (next) next();
      else this.#busy = false;
    }
  }
}

interface Running {
  /** Undefined until its row is loaded. */
  rollout: StartedRollout | undefined;
  run: string;
  /** Its result is on the way to the store of the run. */
  isDone: boolean;
}

const LOOK_MS = 1_000;
/** A run that could not be joined is tried again after this long. */
const JOIN_AGAIN_MS = 30_000;
/** Other workers see a new one within this time, and call less. */
const MAKE_ROOM_MS = 3 * LOOK_MS;
const LEAST_LEASE_MS = 1_000;
const UNREACHABLE_PAUSE_MS = 1_000;
/** References that wait for a place go back after this long: perhaps other workers reach the collector. */
const COLLECTOR_AWAY_MS = 60_000;
/**
 * A rollout that was delivered more often may be what ends workers. A worker runs one such at a time, so that rollouts
 * that only happened to run beside it are not given up with it.
 */
const FREE_DELIVERIES = 2;
const DRAIN_SECONDS = 60;
/** Stopped rollouts get this long to wind up. */
const STOP_MS = 5_000;

/** Takes rollouts of runs from a broker and runs them, until it is told to stop. */
export async function runWorker(options: WorkerOptions): Promise<WorkerSummary> {
  const onNotice = (text: string) => options.onEvent?.({ type: "notice", text });
  const id = `${hostname().replace(/[^A-Za-z0-9_-]/g, "-")}-${process.pid}-${randomBytes(2).toString("hex")}`;
  const broker = await connectBroker(options.broker, { name: `gym worker ${id}`, onNotice });
  onNotice(`Worker ${id} waits for runs at ${broker.name}.`);
  try {
    return await new Worker(id, broker, await Board.open(broker), options).run();
  } finally {
    await broker.close();
  }
}

class Worker {
  readonly #id: string;
  readonly #broker: Broker;
  readonly #board: Board;
  readonly #options: WorkerOptions;
  readonly #queue: JetStreamQueue<RunResult>;
  readonly #concurrency: ConcurrencyLimit;
  readonly #tags: string[];
  /** The latest records of runs that this worker serves. */
  readonly #records = new Map<string, RunRecord>();
  readonly #joined = new Map<string, JoinedRun>();
  readonly #joining = new Map<string, number>();
  /** Since when this worker is among those that share the limits of a run. */
  readonly #listedAt = new Map<string, number>();
  readonly #budgets = new Map<string, SharedBudget>();
  /** Rollouts that have not been settled. Those that are done wait for the collector to take their results. */
  readonly #running = new Map<string, Running>();
  /** Since when the collector of a run is away. */
  readonly #awaySince = new Map<string, number>();
  readonly #problems = new Map<string, string>();
  readonly #suspects = new OneAtATime();
  readonly #started = new Date().toISOString();
  readonly #over = new AbortController();
  readonly #draining = new AbortController();
  #completed = 0;
  #failed = 0;
  #released = 0;
  #reason = "";
  #failure: QueueError | undefined;
  #idleSince = performance.now();
  #changed: () => void = () => {};
  /** Measures while there are runs to serve. */
  #meter: ResourceMeter | undefined;

  constructor(id: string, broker: Broker, board: Board, options: WorkerOptions) {
    this.#id = id;
    this.#broker = broker;
    this.#board = board;
    this.#options = options;
    this.#concurrency = new ConcurrencyLimit(options.concurrency ?? null);
    this.#tags = [...new Set([...foundTags(), ...(options.tags ?? [])])];
    this.#queue = new JetStreamQueue({
      broker,
      isFinal: ({ status }) => status === "completed",
      onNotice: (text) => this.#notice(text),
    });
  }

  async run(): Promise<WorkerSummary> {
    const { drain, stop, maxSeconds } = this.#options;
    const onDrain = () => this.#drain("interrupted");
    const onStop = () => this.#stop("stopped");
    drain?.addEventListener("abort", onDrain, { once: true });
    stop?.addEventListener("abort", onStop, { once: true });
    const timers = [
      setInterval(() => void this.#look(), LOOK_MS),
      setInterval(() => void this.#report(), WORKER_REPORT_MS),
    ];
    const end =
      maxSeconds === undefined
        ? undefined
        : setTimeout(() => this.#drain(`${maxSeconds} s are over`), maxSeconds * 1000);
    const control = serveControl(this.#broker, workerSubject(this.#id), (request) => this.#answer(request));
    const cancels = this.#listenForCancels();
    const limits = await SharedLimits.open(this.#board, this.#id);
    void this.#keepLeases();
    await this.#look();
    await this.#report();
    if (drain?.aborted) onDrain();
    try {
      await this.#pump();
      await this.#finish();
    } finally {
      for (const timer of timers) clearInterval(timer);
      clearTimeout(end);
      for (const budget of this.#budgets.values()) budget.close();
      drain?.removeEventListener("abort", onDrain);
      stop?.removeEventListener("abort", onStop);
      this.#stopMeter();
      this.#over.abort();
      control.close();
      cancels.close();
      limits.close();
      await this.#queue.close();
      await Promise.allSettled([...this.#joined.values()].map((joined) => joined.close()));
      await this.#board.removeWorker(this.#id).catch(() => {});
    }
    if (this.#failure) throw this.#failure;
    return {
      worker: this.#id,
      completed: this.#completed,
      failed: this.#failed,
      released: this.#released,
      reason: this.#reason,
    };
  }

  async #pump(): Promise<void> {
    const { signal } = this.#draining;
    while (!signal.aborted) {
      const free = this.#concurrency.current - (this.#running.size - this.#undelivered);
      if (free <= 0) {
        await this.#change();
        continue;
      }
      for (const lease of await this.#queue.pull(free, signal)) this.#start(lease);
    }
  }

  #start(lease: Lease<RolloutRef>): void {
    const { run, task, rollout } = lease.item;
    const key = `${run} ${task}-${rollout}`;
    const joined = this.#joined.get(run);
    if (!joined || this.#draining.signal.aborted || this.#running.has(key)) {
      void this.#queue.giveBack(lease);
      return;
    }
    this.#running.set(key, { rollout: undefined, run, isDone: false });
    const turn = lease.deliveries > FREE_DELIVERIES ? this.#suspects.run.bind(this.#suspects) : atOnce;
    turn(() => this.#run(lease, joined, key))
      .catch(async (error: unknown) => {
        if (this.#running.get(key)?.rollout === undefined && joined.isCollectorAway)
          return this.#queue.putBack(lease);
        this.#released++;
        await this.#queue.settle(lease, undefined);
        if (!this.#over.signal.aborted && this.#records.has(run)) this.#notice(errorMessage(error));
      })
      .finally(() => {
        this.#running.delete(key);
        this.#idleSince = performance.now();
        this.#changed();
      });
  }

  async #run(lease: Lease<RolloutRef>, joined: JoinedRun, key: string): Promise<void> {
    const rollout = await joined.load(lease.item);
    if (!rollout) return this.#queue.drop(lease);
    const entry: Running = { rollout, run: lease.item.run, isDone: false };
    this.#running.set(key, entry);
    const startedAt = performance.now();
    const result = await joined.run(rollout);
    this.#meter?.ended(performance.now() - startedAt);
    if (result.status === "unreachable") {
      this.#notice(result.message);
      await new Promise((resolve) => setTimeout(resolve, UNREACHABLE_PAUSE_MS));
    }
    if (result.status === "unreachable" || result.status === "cancelled") {
      this.#released++;
      // A rollout that was cancelled for all is settled at the collector.
      const isSettled = result.status === "cancelled" && rollout.signal.reason instanceof WithdrawnRollout;
      if (isSettled) this.#queue.drop(lease);
      else if (result.status === "cancelled") await this.#queue.giveBack(lease);
      else await this.#queue.settle(lease, undefined);
      return;
    }
    entry.isDone = true;
    await this.#queue.settle(lease, result);
    if (result.status === "completed") {
      this.#completed++;
      this.#concurrency.succeeded();
    } else {
      this.#failed++;
      this.#concurrency.failed(result.failure.class);
    }
  }

  /** Joins runs that are new and leaves those that are over. */
  async #look(): Promise<void> {
    const { runs, idleSeconds, outageSeconds = OUTAGE_SECONDS } = this.#options;
    if (this.#broker.awayMs() > outageSeconds * 1000) {
      this.#failure ??= awayTooLong(this.#broker, outageSeconds);
      this.#drain(this.#failure.message);
    }
    try {
      const found = (await this.#board.runs()).filter(({ run }) => runs === undefined || runs.includes(run));
      const live = new Map(
        found.filter(({ state }) => state !== "ended").map((record) => [record.run, record]),
      );
      for (const run of this.#records.keys()) if (!live.has(run)) await this.#leave(run);
      for (const record of live.values()) await this.#follow(record);
    } catch {
      // The broker is unreachable; the next check tries again.
    }
    if (idleSeconds === undefined || this.#running.size > 0) this.#idleSince = performance.now();
    else if (performance.now() - this.#idleSince > idleSeconds * 1000)
      this.#drain(`there was nothing to do for ${idleSeconds} s`);
  }

  async #follow(record: RunRecord): Promise<void> {
    const { run } = record;
    this.#records.set(run, record);
    const joined = this.#joined.get(run);
    if (!joined) {
      const triedAt = this.#joining.get(run);
      if (triedAt !== undefined && performance.now() - triedAt < JOIN_AGAIN_MS) return;
      if (!record.agents.some((agent) => this.#canRun(agent)) || this.#draining.signal.aborted) return;
      this.#joining.set(run, Number.POSITIVE_INFINITY);
      void this.#join(record);
      return;
    }
    joined.record = record;
    this.#shareLimits();
    const isOff =
      record.state === "paused" ||
      this.#draining.signal.aborted ||
      !this.#hasPlace(record) ||
      performance.now() - (this.#awaySince.get(run) ?? Number.POSITIVE_INFINITY) > COLLECTOR_AWAY_MS;
    if (isOff) await this.#queue.unfollow(run);
    else if (!joined.isCollectorAway) await this.#take(joined);
  }

  /** While the collector of a run is away, the places go to other runs. */
  #noteAway(run: string, joined: JoinedRun): void {
    const isAway = joined.isCollectorAway;
    if (isAway) this.#awaySince.set(run, performance.now());
    else this.#awaySince.delete(run);
    this.#queue.suspend(run, isAway);
    this.#changed();
    void this.#report();
  }

  /** Results that a collector that is away has not taken. There are never more of a run than places. */
  get #undelivered(): number {
    let count = 0;
    for (const { run, isDone } of this.#running.values()) if (isDone && this.#awaySince.has(run)) count++;
    return count;
  }

  async #join(record: RunRecord): Promise<void> {
    const { run, name } = record;
    try {
      const joined = await JoinedRun.join(() => this.#records.get(run) ?? record, {
        worker: this.#id,
        resolve: this.#options.resolve,
        noServe: this.#options.noServe,
        storeDirectory: this.#options.storeDirectory,
        onMeter: (meter) => {
          this.#budgets.get(run)?.close();
          this.#budgets.set(run, new SharedBudget(this.#board, run, this.#id, meter));
        },
        signal: this.#over.signal,
        onServerEvent: (event) => this.#options.onEvent?.({ type: "server", run, event }),
        onNotice: (text) => this.#notice(text),
      });
      if (!this.#records.has(run)) return await joined.close();
      joined.crashed?.catch((error: unknown) => void this.#crashed(run, error));
      joined.onCollectorAway = () => this.#noteAway(run, joined);
      this.#problems.delete(run);
      this.#joined.set(run, joined);
      this.#meter ??= ResourceMeter.start(() => this.#running.size);
      const agents = record.agents.filter((agent) => this.#canRun(agent)).map((agent) => agent.name);
      this.#options.onEvent?.({ type: "joined", run, name, agents });
      void this.#report();
      await this.#follow(this.#records.get(run) ?? record);
    } catch (error) {
      this.#joining.set(run, performance.now());
      if (this.#over.signal.aborted) return;
      this.#notice(`Run ${run} cannot be joined: ${errorMessage(error)}`);
      if (!this.#records.has(run)) return;
      this.#problems.set(run, errorMessage(error));
      void this.#report();
    }
  }

  async #take(joined: JoinedRun): Promise<void> {
    const { run, agents, lease_ms: leaseMs } = joined.record;
    for (const agent of agents)
      if (this.#canRun(agent))
        await this.#queue.follow({ run, agent: agent.name, weight: agent.weight, leaseMs, store: joined });
    this.#queue.suspend(run, joined.isCollectorAway);
  }

  /** Limits on calls to a model endpoint are divided among the workers of the run that has most. */
  #shareLimits(): void {
    const lists = [...this.#joined.values()].map(({ record }) => record.workers);
    const [longest = []] = lists.filter((ids) => ids.includes(this.#id)).sort((a, b) => b.length - a.length);
    if (longest.length > 0) shareAmongWorkers(longest.length, longest.indexOf(this.#id));
  }

  /** Where a limit is shared, a worker waits until the others have made room, and takes nothing if none is left for it. */
  #hasPlace({ run, workers }: RunRecord): boolean {
    const limit = leastSharedLimit();
    if (limit === undefined) return true;
    const position = workers.indexOf(this.#id);
    if (position < 0 || position >= limit) {
      this.#listedAt.delete(run);
      return false;
    }
    const since = this.#listedAt.get(run) ?? performance.now();
    this.#listedAt.set(run, since);
    return workers.length === 1 || performance.now() - since >= MAKE_ROOM_MS;
  }

  #stopMeter(): void {
    this.#meter?.close();
    this.#meter = undefined;
  }

  #canRun({ needs }: { needs: readonly string[] }): boolean {
    return needs.every((need) => this.#tags.includes(need));
  }

  /** Its servers are gone: other workers take over, and this one starts them again later. */
  async #crashed(run: string, error: unknown): Promise<void> {
    this.#notice(`The servers of run ${run} ended: ${errorMessage(error)}`);
    await this.#leave(run);
    this.#joining.set(run, performance.now());
  }

  async #leave(run: string): Promise<void> {
    const joined = this.#joined.get(run);
    this.#records.delete(run);
    this.#joining.delete(run);
    this.#joined.delete(run);
    this.#listedAt.delete(run);
    this.#awaySince.delete(run);
    this.#problems.delete(run);
    this.#budgets.get(run)?.close();
    this.#budgets.delete(run);
    await this.#queue.unfollow(run);
    for (const { rollout, run: of } of this.#running.values())
      if (of === run) rollout?.abort(new WithdrawnRollout("the run is over"));
    if (!joined) return;
    this.#options.onEvent?.({ type: "left", run });
    if (this.#joined.size === 0) this.#stopMeter();
    void this.#report();
    await joined.close();
  }

  /** Renews leases in a third of the time of the shortest. */
  async #keepLeases(): Promise<void> {
    let keptAt = performance.now();
    while (!this.#over.signal.aborted) {
      let leaseMs = 3 * LOOK_MS * 10;
      for (const { lease_ms } of this.#records.values()) leaseMs = Math.min(leaseMs, lease_ms);
      // Short pauses, since a run with shorter leases may come in between.
      const restMs = leaseMs / 3 - (performance.now() - keptAt);
      if (restMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(restMs, LEAST_LEASE_MS / 3)).unref());
        continue;
      }
      keptAt = performance.now();
      await this.#queue.heartbeat(this.#queue.leases).catch(() => {
        // The broker is away: leases run out unless it comes back in time.
      });
    }
  }

  #listenForCancels(): { close(): void } {
    const subscription = this.#broker.connection.subscribe("gym.ctl.cancel.*", {
      callback: (error, message) => {
        if (error) return;
        const run = message.subject.split(".").at(-1);
        const { task, rollout, all } = message.json<{ task?: number; rollout?: number; all?: boolean }>();
        for (const [key, entry] of this.#running)
          if (entry.run === run && (all || key === `${run} ${task}-${rollout}`))
            entry.rollout?.abort(new WithdrawnRollout("cancelled"));
      },
    });
    return { close: () => subscription.unsubscribe() };
  }

  #answer(text: string): object {
    const request = JSON.parse(text) as { command?: string; limit?: number | null };
    if (request.command === "concurrency") {
      this.#concurrency.set(request.limit ?? null);
      this.#changed();
    } else if (request.command === "drain") this.#drain("drained by gym eval ctl");
    else if (request.command !== "show") return { ok: false, error: `unknown command '${request.command}'` };
    void this.#report();
    return { ok: true, ...this.#state() };
  }

  #drain(reason: string): void {
    this.#reason ||= reason;
    if (this.#draining.signal.aborted) return;
    this.#draining.abort();
    this.#changed();
    void this.#report();
  }

  #stop(reason: string): void {
    this.#drain(reason);
    for (const { rollout } of this.#running.values()) rollout?.abort(new RolloutCancelled(reason));
  }

  /** Waits for rollouts under way, and releases those that do not finish in time. */
  async #finish(): Promise<void> {
    for (const run of this.#joined.keys()) await this.#queue.unfollow(run);
    const seconds = this.#options.drainSeconds ?? DRAIN_SECONDS;
    const { stop } = this.#options;
    const late = AbortSignal.timeout(seconds * 1000);
    await this.#idle(stop ? AbortSignal.any([stop, late]) : late);
    if (this.#isIdle) return;
    this.#stop(`rollouts took longer than ${seconds} s to finish`);
    await this.#idle(AbortSignal.timeout(STOP_MS));
  }

  get #isIdle(): boolean {
    return ![...this.#running.values()].some(({ rollout }) => rollout !== undefined);
  }

  async #idle(limit: AbortSignal): Promise<void> {
    const wake = () => this.#changed();
    limit.addEventListener("abort", wake);
    while (!this.#isIdle && !limit.aborted) await this.#change();
    limit.removeEventListener("abort", wake);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
    });
  }

  #state(): WorkerRecord {
    return {
      worker: this.#id,
      host: hostname(),
      pid: process.pid,
      tags: this.#tags,
      state: this.#draining.signal.aborted ? "draining" : "running",
      concurrency: this.#concurrency.current,
      automatic_concurrency: this.#concurrency.automatic,
      running: this.#running.size - this.#undelivered,
      undelivered: this.#undelivered,
      completed: this.#completed,
      failed: this.#failed,
      runs: this.#runningByRun(),
      problems: Object.fromEntries(this.#problems),
      resources: this.#meter ? { ...this.#meter.figures() } : null,
      started: this.#started,
    };
  }

  #runningByRun(): Record<string, number> {
    const counts = Object.fromEntries([...this.#joined.keys()].map((run) => [run, 0]));
    for (const { run } of this.#running.values()) counts[run] = (counts[run] ?? 0) + 1;
    return counts;
  }

  async #report(): Promise<void> {
    const record = this.#state();
    this.#options.onEvent?.({ type: "status", record });
    await this.#board.putWorker(record).catch(() => {});
  }

  #notice(text: string): void {
    this.#options.onEvent?.({ type: "notice", text });
  }
}

/** Ended because its result is not wanted any more. */
class WithdrawnRollout extends RolloutCancelled {}

function foundTags(): string[] {
  const programs = (process.env["PATH"] ?? "").split(":");
  const tags: string[] = [];
  if (programs.some((directory) => existsSync(`${directory}/bwrap`))) tags.push("sandbox");
  if (existsSync("/dev/nvidia0")) tags.push("gpu");
  return tags;
}
