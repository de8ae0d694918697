import type { KnownFailureClass } from "../../rollouts/collect/failure-classes.ts";

const ADVICE: Record<KnownFailureClass, string> = {
  provider_auth:
    "Check the API key and its permissions: --model-api-key, policy_api_key in env.yaml, or the file of api_key_file.",
  provider_rate_limit: "Lower --concurrency, or continue later with --resume.",
  provider_error:
    "Read the message of the endpoint: an unknown model or path (--model, --model-url), a refused setting, or a problem of the endpoint (continue later with --resume).",
  budget_exhausted: "Raise max_cost, then continue with --resume.",
  timeout: "Raise {limit}, or lower --concurrency if the model is overloaded.",
  connection: "Check whether the named server is still running. Its log is {logs}.",
  tool_error: "The environment failed. Its log is {logs}.",
  verifier_error: "The verifier failed. Its log is {logs}.",
  judge_failed:
    "When the judge answers again, score these rollouts without model calls: gym eval reverify --judge-failed-only.",
  sandbox_unavailable:
    "Run gym sandbox doctor to see which sandboxes work on this machine, and why the others do not.",
  session_lost: "Raise session_ttl_seconds or max_sessions of the resources server, or lower --concurrency.",
  worker_lost:
    "Find out why workers ended (their logs, memory of their machines). --resume --retry-failed runs these rollouts again.",
  invalid_row:
    "Correct these rows in the input and start a new run: --resume continues with the unchanged rows.",
  invalid_response: "The server returned an invalid response. Its log is {logs}.",
  agent_error: "The agent failed. Its log is {logs}.",
  cancelled: "Continue with --resume.",
};

/** The same classes if the model's endpoint could not be reached or understood. */
const ADVICE_ON_ENDPOINT: Readonly<Record<string, string>> = {
  connection: "Check the address of the model's endpoint (--model-url), and that it is running.",
  invalid_response:
    "Check the address of the model's endpoint (--model-url), up to its last /v1, and that it supports the API of --model-type.",
};

/** The log location of a run with its own servers, and of one that connects to running servers. */
const OWN_LOGS = "in the directory `logs` next to the results";
const OTHERS_LOGS = "in the directory that `gym env start` prints when it starts";

/** The remedy for failures of a class in a stage; custom classes of servers have none. */
export function failureAdvice(
  failureClass: string,
  {
    stage,
    message = "",
    ownServers = true,
  }: { stage?: string | undefined; message?: string; ownServers?: boolean } = {},
): string | undefined {
  if (stage === "model" && Object.hasOwn(ADVICE_ON_ENDPOINT, failureClass))
    return ADVICE_ON_ENDPOINT[failureClass];
  if (!Object.hasOwn(ADVICE, failureClass)) return undefined;
  // Time-out messages name the key of the limit.
  const limit = /\((\w+_timeout_seconds)\)/.exec(message)?.[1] ?? "the time limit";
  return ADVICE[failureClass as KnownFailureClass]
    .replace("{limit}", limit)
    .replace("{logs}", ownServers ? OWN_LOGS : OTHERS_LOGS);
}
