import type { JsonObject, MetricsHooks } from "nemo-gym";

const PREFIX = "conversational_tool_use/";
const RATES: Record<string, (row: JsonObject) => boolean> = {
  completion_rate: (row) => row["terminal_state"] === "complete",
  user_failure_rate: labelled("user_failure"),
  agent_failure_rate: labelled("agent_failure"),
  tool_failure_rate: labelled("tool_failure"),
  trajectory_failure_rate: labelled("trajectory_failure"),
  verification_failure_rate: labelled("verification_generation_error"),
  transfer_mismatch_rate: (row) => row["transfer_ground_truth_mismatch"] === true,
};

function labelled(label: string) {
  return ({ failure_labels: labels }: JsonObject) => Array.isArray(labels) && labels.includes(label);
}

/** Shares of the rollouts that ended in each way. */
export const conversationMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    if (rows.length === 0) return {};
    return Object.fromEntries(
      Object.entries(RATES).map(([name, test]) => [PREFIX + name, rows.filter(test).length / rows.length]),
    );
  },
  key: (metrics) =>
    Object.fromEntries(
      Object.entries(metrics).filter(([name]) => name.startsWith("mean/") || name.startsWith(PREFIX)),
    ),
};
