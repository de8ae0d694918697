/**
 * Why a rollout did not complete: the classes, what they mean and what helps. A failure is never a score. Servers of
 * others may report classes that are not in the table.
 *
 * @module
 */

interface FailureKind {
  readonly meaning: string;
  /** What the user can do. `{logs}` and `{limit}` stand for the place of the logs and the key of the time limit. */
  readonly advice: string;
  /** Whether the same run tries again, unless the cause (a status, a reply) says otherwise. */
  readonly retryable: boolean;
  /**
   * A failure of endpoints and servers and not of the rollout: it does not use an attempt when a run is resumed. A judge
   * may fail because of the rollout's text, so `judge_failed` uses one (upstream: every failure does).
   */
  readonly infrastructure?: true;
}

export const FAILURE_CLASSES = {
  provider_auth: {
    meaning: "the model provider rejected the credentials (401, 403)",
    advice:
      "Check the API key and its permissions: --model-api-key, policy_api_key in env.yaml, or the file of api_key_file.",
    retryable: false,
    infrastructure: true,
  },
  provider_rate_limit: {
    meaning: "the model provider limited the rate (429)",
    advice: "Lower --concurrency, or continue later with --resume.",
    retryable: true,
    infrastructure: true,
  },
  provider_error: {
    meaning: "the model provider failed, or rejected the request",
    advice:
      "Read the message of the endpoint: an unknown model or path (--model, --model-url), a rejected setting, or a problem of the endpoint (continue later with --resume).",
    retryable: true,
    infrastructure: true,
  },
  invalid_request: {
    meaning: "the model server cannot send the request to its provider (422)",
    advice:
      "Remove the parameter that the message names, or choose a model server that supports it (--model-type).",
    retryable: false,
    infrastructure: true,
  },
  budget_exhausted: {
    meaning: "the budget for model calls is spent (`max_cost`)",
    advice: "Raise max_cost, then continue with --resume.",
    retryable: false,
    infrastructure: true,
  },
  replay_miss: {
    meaning: "the recording of `replay_model` has no answer to the request",
    advice: "Record the run again, or use the input and the settings of the recording.",
    retryable: false,
  },
  timeout: {
    meaning: "the time limit of the rollout, a model call or a tool call expired",
    advice: "Raise {limit}, or lower --concurrency if the model is overloaded.",
    retryable: true,
  },
  connection: {
    meaning: "a server could not be reached or closed the connection",
    advice: "Check whether the named server is still running. Its log is {logs}.",
    retryable: true,
    infrastructure: true,
  },
  tool_error: {
    meaning: "a tool of the environment failed (a wrong call by the model is not a failure)",
    advice: "The environment failed. Its log is {logs}.",
    retryable: false,
  },
  malformed_answer: {
    meaning:
      "an environment cannot read the model's answer; `gymnasium_agent` ends the episode and keeps its reward",
    advice: "Use an agent that ends the episode at such an answer, for example gymnasium_agent.",
    retryable: false,
  },
  verifier_error: {
    meaning: "the verifier failed, or returned no valid reward: missing, text, NaN",
    advice: "The verifier failed. Its log is {logs}.",
    retryable: false,
  },
  judge_failed: {
    meaning: "the judge model of a verifier could not be reached",
    advice:
      "When the judge answers again, score these rollouts without model calls: gym eval reverify --judge-failed-only.",
    retryable: true,
  },
  sandbox_unavailable: {
    meaning: "no sandbox is available to run code",
    advice: "Run gym sandbox doctor to see which sandboxes work on this machine, and why the others do not.",
    retryable: true,
  },
  session_lost: {
    meaning: "the state of the rollout expired or was evicted before it was scored",
    advice: "Raise session_ttl_seconds or max_sessions of the resources server, or lower --concurrency.",
    retryable: true,
    infrastructure: true,
  },
  worker_lost: {
    meaning: "every worker that took the rollout was lost before it had a result",
    advice:
      "Find out why workers ended (their logs, memory of their machines). --resume --retry-failed runs these rollouts again.",
    retryable: false,
  },
  invalid_row: {
    meaning: "a server rejected the row (422)",
    advice:
      "Correct these rows in the input and start a new run: --resume continues with the unchanged rows.",
    retryable: false,
  },
  invalid_response: {
    meaning: "a server answered with something other than a JSON object",
    advice: "The server returned an invalid response. Its log is {logs}.",
    retryable: true,
  },
  agent_error: {
    meaning: "the agent failed",
    advice: "The agent failed. Its log is {logs}.",
    retryable: false,
  },
  remote_agent_error: {
    meaning: "the service behind `remote_agent` failed, or did not answer with a Response",
    advice: "Check the log of the service at the url of remote_agent.",
    retryable: true,
  },
  token_drift: {
    meaning: "the token ids of the rollout do not continue each other (`token_drift: strict`)",
    advice:
      "Set token_drift to fork, mask or truncate, or find out why the model server changes earlier tokens.",
    retryable: false,
  },
  cancelled: {
    meaning: "the rollout was stopped before it ended",
    advice: "Continue with --resume.",
    retryable: true,
  },
} as const satisfies Record<string, FailureKind>;

export type FailureClass = keyof typeof FAILURE_CLASSES;

/** The stage of a rollout in which an error occurred. */
export type FailureStage = "seed" | "model" | "tool" | "verify" | "run";

/** Why a rollout did not complete. Error bodies contain it under `error`, so that the root cause survives every hop. */
export interface FailureInfo {
  /** One of `FAILURE_CLASSES`, or a class that a server of others reported. */
  class: FailureClass | (string & Record<never, never>);
  stage?: FailureStage;
  retryable: boolean;
  message: string;
}

/** The description of a class of the table; undefined for the class of a server of others. */
export function failureKind(name: unknown): FailureKind | undefined {
  return typeof name === "string" && Object.hasOwn(FAILURE_CLASSES, name)
    ? FAILURE_CLASSES[name as FailureClass]
    : undefined;
}

/** A failure of a class of the table; what the table says about retries holds unless `more` says otherwise. */
export function failure(
  name: FailureClass,
  message: string,
  more: { stage?: FailureStage; retryable?: boolean } = {},
): FailureInfo {
  return { class: name, retryable: FAILURE_CLASSES[name].retryable, message, ...more };
}

/** Compares with a class of the table, which the compiler checks. */
export function isFailureOf(info: Pick<FailureInfo, "class"> | undefined, ...names: FailureClass[]): boolean {
  return info !== undefined && (names as string[]).includes(info.class);
}

export function isInfrastructureFailure(name: unknown): boolean {
  return failureKind(name)?.infrastructure === true;
}

/** The class of a model provider's error status. */
export function classOfProviderStatus(status: number | undefined) {
  if (status === 401 || status === 403) return "provider_auth" satisfies FailureClass;
  if (status === 429) return "provider_rate_limit" satisfies FailureClass;
  if (status === 408 || status === 504) return "timeout" satisfies FailureClass;
  return "provider_error" satisfies FailureClass;
}

/** The class of an error status without a root cause, as servers of others answer it. */
export function classOfStatus(status: number, stage: FailureStage): FailureClass {
  if (status === 422) return stage === "model" ? "invalid_request" : "invalid_row";
  return stage === "model" ? classOfProviderStatus(status) : classOfStage(stage);
}

/** The class of an error whose cause is unknown. */
export function classOfStage(stage: FailureStage): FailureClass {
  if (stage === "model") return "provider_error";
  if (stage === "tool") return "tool_error";
  return stage === "verify" ? "verifier_error" : "agent_error";
}

/**
 * The names of failures that verdicts and episodes use in `failure_kind`, with the class that means the same in the
 * failures of a run. A kind says nothing about retries and masking.
 */
export const FAILURE_KINDS: Readonly<Record<string, FailureClass>> = {
  transport_unreachable: "connection",
  transport_peer_drop: "connection",
  transport_timeout: "timeout",
  transport_local_resource: "connection",
  agent_run_error: "agent_error",
  agent_request_failed: "agent_error",
  agent_timeout: "timeout",
  agent_command_not_allowed: "agent_error",
  judge_failed: "judge_failed",
  judge_unparseable: "judge_failed",
  verifier_error: "verifier_error",
  provider_unavailable: "provider_error",
  provider_quota_exhausted: "provider_rate_limit",
  provider_oom_killed: "provider_error",
  session_lost: "session_lost",
  session_expired: "session_lost",
  session_release_failed: "session_lost",
  cancelled: "cancelled",
  kill_shaped: "cancelled",
  shutdown: "cancelled",
  persistence_failed: "agent_error",
  cohort_incomplete: "verifier_error",
};

/** The stages in which an episode can fail, with the stage of a rollout that they belong to. */
export const EPISODE_STAGES: Readonly<Record<string, FailureStage>> = {
  admission: "run",
  seed: "seed",
  agent: "run",
  verification: "verify",
  cleanup: "run",
};

const SERVER_KIND = /^[a-z][a-z0-9_]*:[a-z][a-z0-9_]*$/;

/** Whether a kind is a known name, or one of a single server (`my_server:bad_thing`). */
export function describeKind(kind: string): { registered: boolean; namespaced: boolean } {
  return { registered: Object.hasOwn(FAILURE_KINDS, kind), namespaced: SERVER_KIND.test(kind) };
}
