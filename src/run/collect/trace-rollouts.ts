import {
  inSpan,
  readTraceContext,
  type Span,
  type SpanOptions,
  type Tracer,
  traceParent,
} from "../../base/telemetry/light-door.ts";
import { rolloutIdOf } from "../../servers/calls/door.ts";
import type { RunResult } from "./collect-contract.ts";
import type { QueuedRow } from "./row-queues.ts";
import type { StartedRollout } from "./started-rollout.ts";

/** A span for each attempt at a rollout, which everything that happens in it belongs to. */
export class RolloutTraces {
  readonly #tracer: Tracer;
  readonly #job: Span | undefined;
  readonly #queued = new WeakMap<StartedRollout, Span>();

  /** `job`: the span of the whole run, which each trace refers to. */
  constructor(tracer: Tracer, job?: Span) {
    this.#tracer = tracer;
    this.#job = job;
  }

  /** Runs a rollout in its span. The trace continues that of the collector, if there is one. */
  async trace(rollout: StartedRollout, run: () => Promise<RunResult>): Promise<RunResult> {
    const { queued, agent } = rollout;
    const { trace } = queued;
    const parent = trace === undefined ? undefined : readTraceContext({ traceparent: trace });
    const span = this.#tracer.start("rollout", "gym.rollout", parent, this.#about(queued));
    const named = { "gen_ai.agent.name": agent };
    this.#tracer.record("gym.rollout.active", 1, named);
    try {
      const result = await inSpan(span, run);
      note(span, result);
      return result;
    } catch (error) {
      span.fail("internal");
      throw error;
    } finally {
      span.end();
      this.#tracer.record("gym.rollout.active", -1, named);
      this.#measure(span, named);
    }
  }

  /** Starts the span of a rollout that waits for a worker and runs there. The worker continues its trace. */
  queued(rollout: StartedRollout): void {
    const { queued } = rollout;
    const options: SpanOptions = { kind: "producer", ...this.#about(queued) };
    const span = this.#tracer.start("rollout", "gym.queue", undefined, options);
    if (span.context) queued.trace = traceParent(span.context);
    this.#queued.set(rollout, span);
  }

  /** Ends the span of a rollout on a worker. */
  settled(rollout: StartedRollout, result: RunResult): void {
    const span = this.#queued.get(rollout);
    if (span === undefined) return;
    note(span, result);
    span.end();
  }

  #about({ row, taskIndex, rolloutIndex, attempt, agent }: QueuedRow): SpanOptions {
    return {
      rolloutId: rolloutIdOf(row),
      link: this.#job?.context,
      attributes: {
        "nemo.gym.task.index": taskIndex,
        "nemo.gym.rollout.index": rolloutIndex,
        "nemo.gym.rollout.attempt": attempt,
        "gen_ai.agent.name": agent,
      },
    };
  }

  #measure(span: Span, named: { "gen_ai.agent.name": string }): void {
    const outcome = { ...named, "nemo.gym.rollout.outcome": span.attributes["nemo.gym.rollout.outcome"] };
    this.#tracer.record("gym.rollout.duration_ms", span.milliseconds, outcome);
    this.#tracer.record("gym.rollout.completed_total", 1, { ...outcome, "error.type": span.errorType });
  }
}

function note(span: Span, result: RunResult): void {
  span.attributes["nemo.gym.rollout.outcome"] = result.status;
  if (result.status !== "failed") return;
  const { class: type, stage, message } = result.failure;
  span.attributes["nemo.gym.failure.stage"] = stage;
  span.fail(type, message);
}
