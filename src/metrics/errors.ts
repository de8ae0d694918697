import { type ErrorCodeRow, GymError } from "../errors.ts";

/** Codes of rollouts no metrics can be computed from. */
export const metricsErrorCodes = [
  {
    code: "METRICS_MISSING_INDEX",
    class: "MetricsError",
    when: "A rollout row is not an object, or lacks its task or rollout index.",
    fix: "Compute metrics from rows as `eval run` writes them.",
  },
  {
    code: "METRICS_MISSING_REWARD",
    class: "MetricsError",
    when: "A rollout row has no numeric reward.",
    fix: "Leave failed rollouts out; they belong in the failures file.",
  },
  {
    code: "METRICS_SCORE_NOT_A_NUMBER",
    class: "MetricsError",
    when: "A score for pass@k is not a number.",
    fix: "Leave the score out of the rollouts that have none.",
  },
  {
    code: "METRICS_MISSING_RESPONSE",
    class: "MetricsError",
    when: "A rollout row has no `response`, or one that is not an object.",
    fix: "Profile the rollouts file, not its inputs.",
  },
  {
    code: "METRICS_MISSING_AGENT",
    class: "MetricsError",
    when: "A row does not name its agent.",
    fix: "Add the agent reference to the row.",
  },
  {
    code: "METRICS_MISSING_ROLLOUTS",
    class: "MetricsError",
    when: "Inputs have no rollout.",
    fix: "Finish the run, or allow partial rollouts.",
  },
  {
    code: "METRICS_ROLLOUT_WITHOUT_INPUT",
    class: "MetricsError",
    when: "A rollout belongs to none of the inputs.",
    fix: "Give the materialized inputs of the same run.",
  },
  {
    code: "METRICS_DUPLICATE_ROLLOUT",
    class: "MetricsError",
    when: "Two rows have the same task and rollout index.",
    fix: "Keep one of them; shards must not overlap.",
  },
  {
    code: "METRICS_ANSWER_NOT_SCALAR",
    class: "MetricsError",
    when: "The answer majority voting compares is a list or a mapping.",
    fix: "Vote on a text or a number.",
  },
  {
    code: "METRICS_INFINITE_VALUE",
    class: "MetricsError",
    when: "A numeric field is infinite.",
    fix: "Let the verifier give finite numbers.",
  },
] as const satisfies readonly ErrorCodeRow[];

/** Rollout rows from which no metrics can be computed, or settings that make no sense for them. */
export class MetricsError extends GymError {
  constructor(code: `METRICS_${string}`, message: string) {
    super(code, message);
  }
}
