import { errorMessage } from "../../base/errors.ts";
import { failure as failureOf } from "../../base/failures.ts";
import type { Row } from "../../records/files/jsonl-rows.ts";
import { neverReached } from "../../servers/calls/run-client.ts";
import { callServer, type RequiredCall, type ServerReply } from "../../servers/calls/server-client.ts";
import { type AttachedRow, withTrajectory } from "../trajectory/captures.ts";
import type { CallTarget, CollectOptions } from "./collect-contract.ts";
import { type Failure, type Outcome, outcomeOfError, outcomeOfReply } from "./outcome.ts";
import { failureRow, lineOf, modelCallsOf, outputRow } from "./output-row.ts";
import type { QueuedRow } from "./row-queues.ts";
import type { StartedRollout } from "./started-rollout.ts";

/** How a rollout ended, with the line for a file of the run. */
export type RunResult =
  | { status: "completed"; row: Row; line: string; modelCalls: number; settle?: AttachedRow["settle"] }
  | { status: "failed"; failure: Failure; persist: boolean; line?: string; modelCalls?: number }
  | { status: "cancelled"; message: string }
  /** The row never reached its server, so it does not use an attempt. */
  | { status: "unreachable"; server: string; message: string };

/** The result of a rollout that was attempted. */
export type Tried = Exclude<RunResult, { status: "unreachable" }>;

type RunnerOptions = Pick<CollectOptions, "client" | "target" | "captures"> & {
  onModelCall?: () => void;
  /** A rollout continues after a model call, so the model has answered. */
  onModelAnswer?: () => void;
};

/** Runs single rollouts: sends the row to its agent and converts the reply to an output row. */
export class RolloutRunner {
  readonly #options: RunnerOptions;
  /** The default targets, one object per agent. */
  readonly #runs = new Map<string, CallTarget>();

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  target(queued: QueuedRow): CallTarget {
    const own = this.#options.target?.(queued);
    if (own) return own;
    let usual = this.#runs.get(queued.agent);
    if (!usual) {
      usual = { server: queued.agent, path: "/run", stage: "run" };
      this.#runs.set(queued.agent, usual);
    }
    return usual;
  }

  /** Not async, because an async function would use more memory for each of thousands of waiting rollouts. */
  run(rollout: StartedRollout): Promise<RunResult> {
    const { captures } = this.#options;
    return captures
      ? captures.prepare(rollout.queued.row).then(() => this.#ask(rollout))
      : this.#ask(rollout);
  }

  #ask(rollout: StartedRollout): Promise<RunResult> {
    rollout.begin();
    return this.#send(rollout).then(
      (reply) => this.#finish(rollout, () => this.#ofReply(reply, rollout)),
      (error: unknown) => this.#finish(rollout, () => this.#ofError(error, rollout)),
    );
  }

  #send(rollout: StartedRollout): Promise<ServerReply> {
    const call: RequiredCall = {
      ...rollout.target,
      body: rollout.queued.row,
      signal: rollout.signal,
      onStage: (stage, what) => {
        rollout.entered(stage, what);
        if (rollout.lastStage?.stage === "model") this.#options.onModelAnswer?.();
        if (stage === "model") this.#options.onModelCall?.();
      },
    };
    try {
      return callServer(this.#options.client, call);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #ofReply(reply: ServerReply, rollout: StartedRollout): Outcome | RunResult {
    try {
      return outcomeOfReply(reply.json(), rollout.target.server);
    } catch (error) {
      return this.#ofError(error, rollout);
    }
  }

  #ofError(error: unknown, rollout: StartedRollout): Outcome | RunResult {
    const { server } = rollout.target;
    if (rollout.signal.aborted || !neverReached(server, error))
      return outcomeOfError(error, { signal: rollout.signal, stage: rollout.stage });
    return { status: "unreachable", server, message: errorMessage(error) };
  }

  async #finish(rollout: StartedRollout, read: () => Outcome | RunResult): Promise<RunResult> {
    rollout.end();
    const timing = rollout.timing();
    const outcome = read();
    const { row: input } = rollout.queued;
    try {
      if (outcome.status === "completed") {
        const attached = this.#attach(outputRow(outcome.row, input, timing), input, "completed");
        // Without captures the row is available immediately.
        const { row, settle } = attached instanceof Promise ? await attached : attached;
        return { status: "completed", row, line: lineOf(row), modelCalls: modelCallsOf(row), settle };
      }
      if (outcome.status !== "failed") return outcome;
      const { failure, persist } = outcome;
      if (!persist) return { status: "failed", failure, persist };
      const reply = "row" in outcome ? outcome.row : undefined;
      const { row } = await this.#attach(failureRow(failure, input, { reply, timing }), input, "failed");
      return { status: "failed", failure, persist, line: lineOf(row), modelCalls: modelCallsOf(row) };
    } catch (error) {
      return this.#notJson(rollout, error);
    }
  }

  #attach(row: Row, input: Row, outcome: "completed" | "failed"): Promise<AttachedRow> | AttachedRow {
    return this.#options.captures?.attach(row, input, outcome) ?? { row: withTrajectory(row, input) };
  }

  /** A result that cannot be serialized fails its rollout, not the run. */
  #notJson(rollout: StartedRollout, error: unknown): RunResult {
    if ((error as { code?: unknown }).code !== "ROLLOUT_ROW_NOT_JSON") throw error;
    const message = `${rollout.target.server}: ${errorMessage(error)}`;
    const failure: Failure = { ...failureOf("verifier_error", message), stage: "verify" };
    const line = lineOf(failureRow(failure, rollout.queued.row, { timing: rollout.timing() }));
    return { status: "failed", failure, persist: true, line };
  }
}
