import type { FailureStage } from "../../base/failures.ts";
import { abortController, LONGEST_TIMER_MS } from "../../base/transport/light-door.ts";
import type { StageListener } from "../../servers/calls/door.ts";
import type { CallTarget } from "./collect-contract.ts";
import { DeadlineExceeded } from "./outcome.ts";
import type { RolloutTiming } from "./output-row.ts";
import type { QueuedRow } from "./row-queues.ts";

/** A rollout from its start to its outcome: its current stage, and the signal that ends it early. */
export class StartedRollout {
  readonly queued: QueuedRow;
  readonly target: CallTarget;
  readonly id: string;
  /** Monotonic time (`performance.now`), like all times here. */
  readonly startedAt: number;
  stage: FailureStage;
  stageSince: number;
  /** Detail of the stage, such as the name of the tool. */
  what: string | undefined;
  /** Model turns so far, as reported by the agent. */
  modelCalls = 0;
  /** The last finished stage; undefined during the first one. */
  lastStage: { stage: FailureStage; what: string | undefined; milliseconds: number } | undefined;
  readonly #limitMs: number | null;
  readonly #controller = abortController();
  #timer: NodeJS.Timeout | undefined;
  /** Stages whose times go into the row; a later one of the same kind replaces an earlier one. */
  readonly #timed: Pick<RolloutTiming, "seed" | "verify"> = {};

  constructor(queued: QueuedRow, target: CallTarget, limitMs: number | null) {
    const now = performance.now();
    this.queued = queued;
    this.target = target;
    this.id = `${queued.taskIndex}-${queued.rolloutIndex}`;
    this.startedAt = now;
    this.stage = target.stage;
    this.stageSince = now;
    this.#limitMs = limitMs;
  }

  /** Starts the time limit. */
  begin(): void {
    if (this.#limitMs === null || this.#limitMs > LONGEST_TIMER_MS) return;
    this.#timer = setTimeout(() => this.#expire(), this.#limitMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  get agent(): string {
    return this.queued.agent;
  }

  get attempt(): number {
    return this.queued.attempt;
  }

  /** Records the stage that the rollout enters. */
  entered(...[stage, what]: Parameters<StageListener>): void {
    this.#timeStage();
    const now = performance.now();
    this.lastStage = { stage: this.stage, what: this.what, milliseconds: now - this.stageSince };
    this.stage = stage;
    this.what = what;
    this.stageSince = now;
    if (stage === "model") this.modelCalls++;
  }

  #expire(): void {
    const busy = this.what ? `${this.stage} (${this.what})` : this.stage;
    const seconds = (this.#limitMs ?? 0) / 1000;
    const text = `the rollout took longer than ${seconds} s (rollout_timeout_seconds); it was in stage ${busy}`;
    this.abort(new DeadlineExceeded(text, this.stage));
  }

  /** When it started, and its duration so far. */
  timing(): RolloutTiming {
    const milliseconds = performance.now() - this.startedAt;
    this.#timeStage();
    return {
      started_at: new Date(Date.now() - milliseconds).toISOString(),
      seconds: inSeconds(milliseconds),
      ...this.#timed,
      ...(this.modelCalls > 0 && { model_calls: this.modelCalls }),
    };
  }

  /** Records the duration of the current stage. */
  #timeStage(): void {
    const { stage, stageSince, startedAt } = this;
    if (stage !== "seed" && stage !== "verify") return;
    const seconds = inSeconds(performance.now() - stageSince);
    this.#timed[stage] = { at: inSeconds(stageSince - startedAt), seconds };
  }

  /** Ends the time limit. */
  end(): void {
    clearTimeout(this.#timer);
  }
}

function inSeconds(milliseconds: number): number {
  return Number((milliseconds / 1000).toFixed(3));
}
