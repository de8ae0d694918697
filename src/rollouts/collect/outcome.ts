import {
  type FailureStage,
  isServerCallError,
  type ServerCallError,
  transportFailure,
} from "../../calls/errors.ts";
import { errorMessage, GymError } from "../../errors.ts";
import { isObject } from "../../python/json/json-object.ts";
import { isTruthy } from "../../python/truth.ts";
import type { Row } from "../files/jsonl-rows.ts";
import { FAILURE_CLASSES, type KnownFailureClass } from "./failure-classes.ts";

/** Maximum length of a failure message; longer ones are truncated. */
const MAX_MESSAGE_CHARACTERS = 2_000;

export interface Failure {
  /** One of FAILURE_CLASSES, or a class that a server reported. */
  class: string;
  stage: FailureStage;
  retryable: boolean;
  message: string;
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
    return failed({
      class: "invalid_response",
      stage: "run",
      message: `${server} answered with ${describe(reply)}, not with a JSON object.`,
    });
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
    `The agent reported '${name}' without saying more.`,
  ];
  const message = texts.find((text): text is string => typeof text === "string" && text !== "") ?? "";
  const failure: Failure = {
    class: name,
    stage: inner.stage ?? (name === "judge_failed" ? "verify" : "run"),
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
  const failure: Failure = { class: "verifier_error", stage: "verify", retryable: false, message };
  return { status: "failed", failure, row, persist: true };
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
    return failed({ class: "timeout", stage: reason.stage ?? stage, message: reason.message });
  }
  if (isServerCallError(error)) return failed(failureOfCall(error, stage));
  const transport = transportFailure(error);
  if (transport) return failed({ class: transport, stage, message: errorMessage(error) });
  if ((error as { code?: unknown } | null)?.code === "JSON_INVALID" || error instanceof SyntaxError) {
    return failed({ class: "invalid_response", stage, message: errorMessage(error) });
  }
  const name = CLASS_OF_STAGE[stage] ?? "agent_error";
  return failed({ class: name, stage, retryable: false, message: errorMessage(error) });
}

/** The failure behind an error response. Classes that only name a stage are replaced by one that names the cause. */
function failureOfCall(error: ServerCallError, fallback: FailureStage): Failure {
  const { info, status } = error;
  const stage = info.stage ?? fallback;
  const vague = info.class === "model_error" || info.class === "invalid_request";
  const name = vague ? providerClass(status) : info.class;
  const retryable = name === "provider_auth" ? false : name === "provider_rate_limit" || info.retryable;
  return { class: name, stage, retryable, message: info.message };
}

function providerClass(status: number | undefined): KnownFailureClass {
  if (status === 401 || status === 403) return "provider_auth";
  if (status === 429) return "provider_rate_limit";
  if (status === 408 || status === 504) return "timeout";
  return "provider_error";
}

const CLASS_OF_STAGE: Partial<Record<FailureStage, KnownFailureClass>> = {
  model: "provider_error",
  tool: "tool_error",
  verify: "verifier_error",
};

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

function failed(failure: Omit<Failure, "retryable"> & { retryable?: boolean }): Outcome {
  const known = FAILURE_CLASSES[failure.class as KnownFailureClass] as { retryable: boolean } | undefined;
  const message = failure.message.slice(0, MAX_MESSAGE_CHARACTERS);
  return {
    status: "failed",
    failure: { ...failure, retryable: failure.retryable ?? known?.retryable ?? false, message },
    // Without budget no call was made, so the attempt does not count when the run is resumed with a larger budget.
    persist: failure.class !== "budget_exhausted",
  };
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (value === undefined) return "nothing";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
