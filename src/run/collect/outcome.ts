import { errorMessage, GymError } from "../../base/errors.ts";
import {
  classOfStage,
  EPISODE_STAGES,
  type FailureClass,
  type FailureInfo,
  type FailureStage,
  failure as failureOf,
} from "../../base/failures.ts";
import { isTruthy } from "../../base/python/door.ts";
import { isObject } from "../../base/python/json/door.ts";
import { transportFailure } from "../../base/transport/door.ts";
import type { Row } from "../../records/files/door.ts";
import { isServerCallError, type ServerCallError } from "../../servers/calls/door.ts";

/** Maximum length of a failure message; longer ones are truncated. */
const MAX_MESSAGE_CHARACTERS = 2_000;

export interface Failure extends FailureInfo {
  stage: FailureStage;
  /** The server reported that this row must never be retried, not even by a resumed run. */
  terminal?: boolean;
}

/** How a rollout ended. Only the reward of a completed one counts. */
export type Outcome =
  | { status: "completed"; row: Row }
  | {
      status: "failed";
      failure: Failure;
      /** The reply, if any. */
      row?: Row;
      /** False: not written, so that a resumed run does not count the attempt. */
      persist: boolean;
    }
  | { status: "cancelled"; message: string };

/** The abort reason when a rollout is stopped on purpose. */
export class RolloutCancelled extends GymError {
  constructor(message: string) {
    super("ROLLOUT_CANCELLED", message);
  }
}

/** The abort reason when the time limit is reached; `stage` is the current stage of the rollout. */
export class DeadlineExceeded extends GymError {
  readonly stage: FailureStage | undefined;

  constructor(message: string, stage?: FailureStage) {
    super("ROLLOUT_DEADLINE", message);
    this.stage = stage;
  }
}

/** Reads the sentinels and the reward of a successful reply of `server`. */
export function outcomeOfReply(reply: unknown, server: string): Outcome {
  if (!isObject(reply)) {
    const message = `${server} answered with ${describe(reply)}, not with a JSON object.`;
    return failed(failureOf("invalid_response", message), "run");
  }
  const reported = reply["_ng_failure_class"];
  const lost = isTruthy(reply["_ng_no_persist"]);
  if (!lost && (reported === undefined || reported === null)) return outcomeOfScore(reply, server);
  const name = typeof reported === "string" && reported !== "" ? reported : "agent_error";
  const terminal = isTruthy(reply["_ng_failure_terminal"]);
  const inner: Partial<Failure> = isObject(reply["_ng_failure"]) ? reply["_ng_failure"] : {};
  const texts = [
    inner.message,
    reply["_ng_failure_judge_error"],
    reply["_ng_failure_message"],
    reply["error"],
    `The agent reported '${name}' without a message.`,
  ];
  const message = texts.find((text): text is string => typeof text === "string" && text !== "") ?? "";
  const failure: Failure = {
    class: name,
    stage:
      inner.stage ??
      EPISODE_STAGES[String(reply["_ng_failure_stage"])] ??
      (name === "judge_failed" ? "verify" : "run"),
    retryable: !terminal,
    message: message.slice(0, MAX_MESSAGE_CHARACTERS),
    ...(terminal && { terminal }),
  };
  return { status: "failed", failure, row: reply, persist: !lost };
}

/** An agent that does not score omits the reward. A reward must be a number or a boolean; null means NaN. */
function outcomeOfScore(row: Row, server: string): Outcome {
  const { reward } = row;
  if (typeof reward === "boolean") return { status: "completed", row: { ...row, reward: Number(reward) } };
  if (reward === undefined || (typeof reward === "number" && Number.isFinite(reward)))
    return { status: "completed", row };
  const shown = reward === null || typeof reward === "number" ? `${reward}` : describe(reward);
  const message = `${server} answered with a reward that is not a number: ${shown}. A reward of NaN or Infinity is sent as null.`;
  return { ...failed(failureOf("verifier_error", message), "verify"), row };
}

/** The outcome of a rollout after a thrown error; `stage` is its stage, as far as the caller knows. */
export function outcomeOfError(
  error: unknown,
  options: { signal?: AbortSignal; stage?: FailureStage } = {},
): Outcome {
  const reason: unknown = options.signal?.aborted ? options.signal.reason : error;
  const stage = options.stage ?? "run";
  if (reason instanceof RolloutCancelled || (isAbort(reason) && options.signal?.aborted)) {
    return { status: "cancelled", message: errorMessage(reason) };
  }
  if (reason instanceof DeadlineExceeded) {
    return failed(failureOf("timeout", reason.message), reason.stage ?? stage);
  }
  if (isServerCallError(error)) return failed(failureOfCall(error), stage);
  const transport = transportFailure(error);
  if (transport) return failed(failureOf(transport, errorMessage(error)), stage);
  if ((error as { code?: unknown } | null)?.code === "JSON_INVALID" || error instanceof SyntaxError) {
    return failed(failureOf("invalid_response", errorMessage(error)), stage);
  }
  return failed(failureOf(classOfStage(stage), errorMessage(error), { retryable: false }), stage);
}

/** A rejected key never works a second time, and a rate limit always passes. */
function failureOfCall({ info }: ServerCallError): FailureInfo {
  const name = info.class as FailureClass;
  const retryable = name === "provider_rate_limit" || (name !== "provider_auth" && info.retryable);
  return { ...info, retryable };
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function failed(failure: FailureInfo, stage: FailureStage): Outcome & { status: "failed" } {
  return {
    status: "failed",
    failure: {
      ...failure,
      stage: failure.stage ?? stage,
      message: failure.message.slice(0, MAX_MESSAGE_CHARACTERS),
    },
    // Without budget no call was made, so the attempt does not count when the run is resumed with a larger budget.
    persist: failure.class !== ("budget_exhausted" satisfies FailureClass),
  };
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (value === undefined) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
