import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { errorMessage } from "../../base/errors.ts";
import type { RunResult } from "../collect/collect-contract.ts";
import { ConcurrencyLimit } from "../collect/concurrency.ts";
import { RunBoard, WORKER_REPORT_MS, type WorkerRecord } from "../queue/board.ts";
import { awayTooLong, type Broker, connectBroker } from "../queue/broker.ts";
import { serveControl, workerSubject } from "../queue/control.ts";
import type { QueueError } from "../queue/errors.ts";
import { JetStreamQueue, type Lease } from "../queue/jetstream-queue.ts";
import type { JoinedRun } from "./joined-run.ts";
import { OUTAGE_SECONDS, type WorkerOptions, type WorkerSummary } from "./options.ts";
import { RunningRollouts, type UnsettledRollout, WithdrawnRollout } from "./running-rollouts.ts";
import { ServedRuns } from "./served-runs.ts";
import { shareSlowDowns } from "./shared-limits.ts";

const LOOK_MS = 1_000;
const LEAST_LEASE_MS = 1_000;
const LONGEST_LEASE_MS = 30_000;
const UNREACHABLE_PAUSE_MS = 1_000;
const DRAIN_SECONDS = 60;
/** How long stopped rollouts may take to clean up. */
const STOP_MS = 5_000;

/** Pulls rollouts of runs from a broker and runs them until it is stopped. */
export async function runWorker(options: WorkerOptions): Promise<WorkerSummary> {
  const onNotice = (text: string) => options.onEvent?.({ type: "notice", text });
  const id = `${hostname().replace(/[^A-Za-z0-9_-]/g, "-")}-${process.pid}-${randomBytes(2).toString("hex")}`;
  const broker = await connectBroker(options.broker, { name: `gym worker ${id}`, onNotice });
  try {
    return await new Worker(id, broker, await RunBoard.open(broker), options).run();
  } finally {
    await broker.close();
  }
}

class Worker {
  readonly #id: string;
  readonly #broker: Broker;
  readonly #board: RunBoard;
  readonly #options: WorkerOptions;
  readonly #queue: JetStreamQueue<RunResult>;
  readonly #concurrency: ConcurrencyLimit;
  readonly #tags: string[];
  readonly #running = new RunningRollouts();
  readonly #runs: ServedRuns;
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

  constructor(id: string, broker: Broker, board: RunBoard, options: WorkerOptions) {
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
    this.#runs = new ServedRuns({
      worker: id,
      board,
      queue: this.#queue,
      options,
      tags: this.#tags,
      running: this.#running,
      draining: this.#draining.signal,
      over: this.#over.signal,
      onNotice: (text) => this.#notice(text),
      onChange: () => {
        this.#changed();
        void this.#report();
      },
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
    const endSlowDowns = await shareSlowDowns(this.#board, this.#id);
    void this.#keepLeases();
    await this.#look();
    await this.#report();
    this.#notice(`Worker ${this.#id} waits for runs at ${this.#broker.name}.`);
    if (this.#broker.isOpen)
      this.#notice(
        "The broker requires no login: everybody who can reach it can start runs on this worker. `gym queue up` starts one that does.",
      );
    if (drain?.aborted) onDrain();
    try {
      await this.#pump();
      await this.#finish();
    } finally {
      for (const timer of timers) clearInterval(timer);
      clearTimeout(end);
      drain?.removeEventListener("abort", onDrain);
      stop?.removeEventListener("abort", onStop);
      this.#over.abort();
      control.close();
      cancels.close();
      endSlowDowns();
      await this.#queue.close();
      await this.#runs.close();
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

  #start(lease: Lease<RunResult>): void {
    const { run, task, rollout } = lease.item;
    const key = `${run} ${task}-${rollout}`;
    const joined = this.#runs.joined(run);
    if (!joined || this.#draining.signal.aborted) {
      void this.#queue.giveBack(lease);
      return;
    }
    const running = this.#running.get(key);
    if (running) {
      running.repeated.push(lease);
      return;
    }
    const entry = this.#running.add(key, run);
    this.#run(lease, joined, entry)
      .catch(async (error: unknown) => {
        if (!entry.rollout && joined.isCollectorAway) return this.#queue.putBack(lease);
        this.#released++;
        await this.#queue.settle(lease, undefined);
        if (!this.#over.signal.aborted && this.#runs.isServed(run)) this.#notice(errorMessage(error));
      })
      .finally(() => {
        this.#running.delete(key);
        for (const repeated of entry.repeated) void this.#queue.giveBack(repeated);
        this.#idleSince = performance.now();
        this.#changed();
      });
  }

  async #run(lease: Lease<RunResult>, joined: JoinedRun, entry: UnsettledRollout): Promise<void> {
    const rollout = await joined.load(lease.item);
    if (!rollout) return this.#queue.drop(lease);
    entry.rollout = rollout;
    const startedAt = performance.now();
    const result = await joined.run(rollout);
    this.#runs.meter?.ended(performance.now() - startedAt);
    if (result.status === "unreachable") {
      this.#notice(result.message);
      await new Promise((resolve) => setTimeout(resolve, UNREACHABLE_PAUSE_MS));
    }
    if (result.status === "unreachable" || result.status === "cancelled") {
      this.#released++;
      // The collector has already settled a rollout that was cancelled for all workers.
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

  /** Joins new runs and leaves finished runs. */
  async #look(): Promise<void> {
    const { idleSeconds, outageSeconds = OUTAGE_SECONDS } = this.#options;
    if (this.#broker.awayMs() > outageSeconds * 1000) {
      this.#failure ??= awayTooLong(this.#broker, outageSeconds);
      this.#drain(this.#failure.message);
    }
    try {
      await this.#runs.update();
    } catch {
      // The broker is unreachable; the next check tries again.
    }
    if (idleSeconds === undefined || this.#running.size > 0) this.#idleSince = performance.now();
    else if (performance.now() - this.#idleSince > idleSeconds * 1000)
      this.#drain(`there was nothing to do for ${idleSeconds} s`);
  }

  /** Renews leases after a third of the shortest lease. */
  async #keepLeases(): Promise<void> {
    let keptAt = performance.now();
    while (!this.#over.signal.aborted) {
      const leaseMs = Math.min(LONGEST_LEASE_MS, this.#runs.shortestLeaseMs);
      // Sleeps in short intervals, because a run with a shorter lease may appear.
      const restMs = leaseMs / 3 - (performance.now() - keptAt);
      if (restMs > 0) {
        await new Promise((resolve) => setTimeout(resolve, Math.min(restMs, LEAST_LEASE_MS / 3)).unref());
        continue;
      }
      keptAt = performance.now();
      await this.#queue.heartbeat(this.#queue.leases).catch(() => {
        // The broker is unreachable: leases expire unless it returns in time.
      });
    }
  }

  #listenForCancels(): { close(): void } {
    const subscription = this.#broker.connection.subscribe("gym.ctl.cancel.*", {
      callback: (error, message) => {
        if (error) return;
        const run = message.subject.split(".").at(-1) ?? "";
        const { task, rollout, all } = message.json<{ task?: number; rollout?: number; all?: boolean }>();
        this.#running.withdraw(run, "cancelled", all ? undefined : `${run} ${task}-${rollout}`);
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
    this.#running.cancelAll(reason);
  }

  /** Waits for running rollouts, and releases those that do not finish in time. */
  async #finish(): Promise<void> {
    for (const run of this.#runs.names) await this.#queue.unfollow(run);
    const seconds = this.#options.drainSeconds ?? DRAIN_SECONDS;
    const { stop } = this.#options;
    const late = AbortSignal.timeout(seconds * 1000);
    await this.#idle(stop ? AbortSignal.any([stop, late]) : late);
    if (this.#running.isIdle) return;
    this.#stop(`rollouts took longer than ${seconds} s to finish`);
    await this.#idle(AbortSignal.timeout(STOP_MS));
  }

  async #idle(limit: AbortSignal): Promise<void> {
    const wake = () => this.#changed();
    limit.addEventListener("abort", wake);
    while (!this.#running.isIdle && !limit.aborted) await this.#change();
    limit.removeEventListener("abort", wake);
  }

  /** Number of results that unreachable collectors have not received. */
  get #undelivered(): number {
    return this.#running.undelivered((run) => this.#runs.isCollectorAway(run));
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
    });
  }

  #state(): WorkerRecord {
    const { meter } = this.#runs;
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
      runs: this.#running.countByRun(this.#runs.names),
      problems: this.#runs.problems,
      resources: meter ? { ...meter.figures() } : null,
      started: this.#started,
    };
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

function foundTags(): string[] {
  const programs = (process.env["PATH"] ?? "").split(":");
  const tags: string[] = [];
  if (programs.some((directory) => existsSync(`${directory}/bwrap`))) tags.push("sandbox");
  if (existsSync("/dev/nvidia0")) tags.push("gpu");
  return tags;
}
