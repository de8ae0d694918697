import { type ErrorTable, GymError } from "../../base/errors.ts";

/** Codes of rollouts from which metrics cannot be computed. */
export const metricsErrorCodes = {
  MetricsError: {
    METRICS_MISSING_INDEX: {
      when: "A rollout row is not an object, or lacks its task or rollout index.",
      fix: "Compute metrics from rows as `eval run` writes them.",
    },
    METRICS_MISSING_REWARD: {
      when: "A rollout row has no numeric reward.",
      fix: "Leave failed rollouts out; they belong in the failures file.",
    },
    METRICS_SCORE_NOT_A_NUMBER: {
      when: "A score for pass@k is not a number.",
      fix: "Leave the score out of the rollouts that have none.",
    },
    METRICS_MISSING_RESPONSE: {
      when: "A rollout row has no `response`, or one that is not an object.",
      fix: "Profile the rollouts file, not its inputs.",
    },
    METRICS_MISSING_AGENT: {
      when: "A row does not name its agent.",
      fix: "Add the agent reference to the row.",
    },
    METRICS_MISSING_ROLLOUTS: {
      when: "Inputs have no rollout.",
      fix: "Finish the run, or allow partial rollouts.",
    },
    METRICS_ROLLOUT_WITHOUT_INPUT: {
      when: "A rollout belongs to none of the inputs.",
      fix: "Pass the materialized inputs of the same run.",
    },
    METRICS_DUPLICATE_ROLLOUT: {
      when: "Two rows have the same task and rollout index.",
      fix: "Keep one of them; shards must not overlap.",
    },
    METRICS_ANSWER_NOT_SCALAR: {
      when: "The answer majority voting compares is a list or a mapping.",
      fix: "Vote on a text or a number.",
    },
    METRICS_INFINITE_VALUE: {
      when: "A numeric field is infinite.",
      fix: "Let the verifier return finite numbers.",
    },
  },
} satisfies ErrorTable;

/** Rollout rows from which metrics cannot be computed, or settings that do not apply to them. */
export class MetricsError extends GymError {
  constructor(code: `METRICS_${string}`, message: string) {
    super(code, message);
  }
}
