import type { KnownFailureClass } from "../../rollouts/collect/failure-classes.ts";

const ADVICE: Record<KnownFailureClass, string> = {
  provider_auth:
    "Check the API key and what it may be used for: --model-api-key, policy_api_key in env.yaml, or the file of api_key_file.",
  provider_rate_limit: "Lower --concurrency, or go on later with --resume.",
  provider_error:
    "The endpoint says what it is: a model or path it does not know (--model, --model-url), a setting it refuses, or trouble of its own (go on later with --resume).",
  budget_exhausted: "Raise max_cost, then go on with --resume.",
  timeout: "Raise {limit}, or lower --concurrency if the model is overloaded.",
  connection: "See whether the server named still runs; its log is {logs}.",
  tool_error: "The environment is at fault: its log is {logs}.",
  verifier_error: "The verifier is at fault: its log is {logs}.",
  judge_failed:
    "When the judge answers again, score these without asking the model: gym eval reverify --judge-failed-only.",
  sandbox_unavailable: "See which sandboxes work on this machine, and why others do not: gym sandbox doctor.",
  session_lost: "Raise session_ttl_seconds or max_sessions of the resources server, or lower --concurrency.",
  worker_lost:
    "See why workers ended (their logs, memory of their machines); --resume --retry-failed tries these again.",
  invalid_row: "Correct these rows in the input and run that: --resume goes on with the rows as they were.",
  invalid_response: "The server does not speak the protocol: see its log {logs}.",
  agent_error: "The agent is at fault: its log is {logs}.",
  cancelled: "Go on with --resume.",
};

/** The same classes if the model's endpoint could not be reached or understood. */
const ADVICE_ON_ENDPOINT: Readonly<Record<string, string>> = {
  connection: "Check the address of the model's endpoint (--model-url), and that it is up.",
  invalid_response:
    "Check the address of the model's endpoint (--model-url), up to its last /v1, and that it speaks the API of --model-type.",
};

/** The log location of a run with its own servers, and of one that connects to running servers. */
const OWN_LOGS = "in the directory `logs` beside the results";
const OTHERS_LOGS = "where `gym env start` keeps it (it says so when it starts)";

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
