import type { FailureStage } from "../../calls/call-errors.ts";
import { LazySignal } from "../../calls/lazy-signal.ts";
import type { StageListener } from "../../calls/server-client.ts";
import { type LimitChain, type Limited, limitTime, unlimitTime } from "../../calls/time-limits.ts";
import type { CallTarget, RunningRollout } from "./collect-contract.ts";
import type { QueuedRow } from "./fair-queue.ts";
import { DeadlineExceeded } from "./outcome.ts";

/** Rounded down: V8 keeps whole numbers in their objects, and makes another object for each of the others. */
const wholeMs = () => Math.floor(performance.now());

/** A rollout from its start to its outcome: what it is busy with, and the signal that ends it early. */
export class StartedRollout extends LazySignal implements RunningRollout, Limited {
  readonly queued: QueuedRow;
  readonly target: CallTarget;
  readonly id: string;
  readonly startedAt: number;
  stage: FailureStage;
  stageSince: number;
  what: string | undefined;
  modelCalls = 0;
  readonly #limitMs: number | null;
  dueAt = 0;
  chain: LimitChain | undefined;
  before: Limited | undefined;
  after: Limited | undefined;

  constructor(queued: QueuedRow, target: CallTarget, limitMs: number | null) {
    super();
    const now = wholeMs();
    this.queued = queued;
    this.target = target;
    this.id = `${queued.taskIndex}-${queued.rolloutIndex}`;
    this.startedAt = now;
    this.stage = target.stage;
    this.stageSince = now;
    this.#limitMs = limitMs;
  }

  /** Its time begins with its first call. */
  begin(): void {
    if (this.#limitMs !== null) limitTime(this, this.#limitMs);
  }

  get agent(): string {
    return this.queued.agent;
  }

  get attempt(): number {
    return this.queued.attempt;
  }

  /** Keeps in mind what the rollout says it is busy with. */
  entered(...[stage, what]: Parameters<StageListener>): void {
    this.stage = stage;
    this.what = what;
    this.stageSince = wholeMs();
    if (stage === "model") this.modelCalls++;
  }

  timeIsUp(): void {
    const busy = this.what ? `${this.stage} (${this.what})` : this.stage;
    const seconds = (this.#limitMs ?? 0) / 1000;
    const text = `the rollout took longer than ${seconds} s (rollout_timeout_seconds); it was in stage ${busy}`;
    this.abort(new DeadlineExceeded(text, this.stage));
  }

  /** It has its answer: its time does not matter any more. */
  end(): void {
    unlimitTime(this);
  }
}
