/** Why a rollout did not complete. Servers may report additional classes. */
export const FAILURE_CLASSES = {
  provider_auth: { retryable: false, meaning: "the model provider refused the credentials (401, 403)" },
  provider_rate_limit: { retryable: true, meaning: "the model provider limited the rate (429)" },
  provider_error: { retryable: true, meaning: "the model provider failed, or refused the request" },
  budget_exhausted: { retryable: false, meaning: "the budget for model calls is spent (`max_cost`)" },
  timeout: { retryable: true, meaning: "the time limit of the rollout, a model call or a tool call expired" },
  connection: { retryable: true, meaning: "a server could not be reached or closed the connection" },
  tool_error: { retryable: true, meaning: "a tool of the environment failed (invalid calls do not count)" },
  verifier_error: { retryable: true, meaning: "the verifier failed" },
  judge_failed: { retryable: true, meaning: "the judge model of a verifier could not be reached" },
  sandbox_unavailable: { retryable: true, meaning: "no sandbox is available to run code" },
  session_lost: {
    retryable: true,
    meaning: "the state of the rollout expired or was evicted before it was scored",
  },
  worker_lost: {
    retryable: false,
    meaning: "every worker that took the rollout was lost before it had a result",
  },
  invalid_row: { retryable: false, meaning: "a server refused the row (422)" },
  invalid_response: { retryable: true, meaning: "a server answered with something other than a JSON object" },
  agent_error: { retryable: false, meaning: "the agent failed" },
  cancelled: { retryable: true, meaning: "the rollout was stopped before it ended" },
} as const satisfies Record<string, { retryable: boolean; meaning: string }>;

/**
 * Failures of endpoints and servers, not of the rollout: they do not use attempts when a run is resumed. A judge may
 * fail because of the rollout's text, so `judge_failed` counts (upstream counts every failure).
 */
const INFRASTRUCTURE: ReadonlySet<string> = new Set<KnownFailureClass>([
  "provider_auth",
  "provider_rate_limit",
  "provider_error",
  "budget_exhausted",
  "connection",
  "session_lost",
]);

export function isInfrastructureFailure(failureClass: unknown): boolean {
  return typeof failureClass === "string" && INFRASTRUCTURE.has(failureClass);
}

export type KnownFailureClass = keyof typeof FAILURE_CLASSES;
