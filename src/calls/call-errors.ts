import { GymError } from "../errors.ts";

/** Where in a rollout something went wrong. */
export type FailureStage = "seed" | "model" | "tool" | "verify" | "run";

/** Why a rollout did not complete; travels in error bodies under `error` so that the root cause survives every hop. */
export interface FailureInfo {
  class: string;
  stage?: FailureStage;
  retryable: boolean;
  message: string;
}

/** Another server could not be reached, or answered with an error; `info` is the root cause as far as it is known. */
export class ServerCallError extends GymError {
  readonly server: string;
  /** HTTP status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  readonly info: FailureInfo;

  constructor(server: string, status: number | undefined, info: FailureInfo, options?: { cause?: unknown }) {
    super("SERVER_CALL", info.message, options);
    this.server = server;
    this.status = status;
    this.info = info;
  }
}

/** Whether this is a failed call, also one thrown by another copy of the package (a server folder may bring its own). */
export function isServerCallError(error: unknown): error is ServerCallError {
  return error instanceof Error && (error as { code?: unknown }).code === "SERVER_CALL";
}

const MAX_QUOTED_BODY = 1_000;

/** Reads the root cause from an error response. Error bodies of other software are quoted. */
export function failureOf(
  server: string,
  path: string,
  stage: FailureStage,
  reply: { status: number; text(): string },
): ServerCallError {
  const text = reply.text();
  const body = parse(text);
  const inner = (body as { error?: Partial<FailureInfo> } | undefined)?.error;
  if (inner && typeof inner.class === "string" && typeof inner.message === "string") {
    const info = {
      class: inner.class,
      stage: inner.stage ?? stage,
      retryable: inner.retryable === true,
      message: inner.message,
    };
    return new ServerCallError(server, reply.status, info);
  }
  const detail = (body as { detail?: unknown } | undefined)?.detail ?? body ?? text;
  const quoted = (typeof detail === "string" ? detail : JSON.stringify(detail)).slice(0, MAX_QUOTED_BODY);
  return new ServerCallError(server, reply.status, {
    class: classOf(reply.status, stage),
    stage,
    retryable: reply.status >= 500 || reply.status === 429 || reply.status === 408,
    message: `${reply.status} from ${server} ${path}: ${quoted}`,
  });
}

function classOf(status: number, stage: FailureStage): string {
  if (status === 422) return stage === "model" ? "invalid_request" : "invalid_row";
  if (stage === "verify") return "verifier_error";
  if (stage === "tool") return "tool_error";
  if (stage === "model") return "model_error";
  return "agent_error";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sets `stage` on a failure that has none. */
export function inStage(stage: FailureStage, error: unknown): unknown {
  if (!isServerCallError(error) || error.info.stage) return error;
  return new ServerCallError(error.server, error.status, { ...error.info, stage }, { cause: error });
}
