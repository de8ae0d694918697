import type { MetricsHooks } from "nemo-gym";
import { pyStr } from "nemo-gym/python";

type Fields = Readonly<Record<string, unknown>>;

/** The group of a result in one breakdown; undefined if it has none. */
type Grouping = readonly [prefix: string, group: (row: Fields) => string | undefined];

function byText(prefix: string, field: string): Grouping {
  return [prefix, (row) => (row[field] ? pyStr(row[field]) : undefined)];
}

function byFlag(prefix: string, field: string): Grouping {
  return [prefix, (row) => (isAbsent(row[field]) ? undefined : String(Boolean(row[field])))];
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}

const groupings: readonly Grouping[] = [
  ["", (row) => (row["schema_type"] === undefined ? "unknown" : pyStr(row["schema_type"]))],
  byText("", "problem_type"),
  byText("repr_", "schema_repr"),
  byText("response_mode_", "response_mode"),
  byText("tool_schema_mode_", "tool_schema_mode"),
  byText("tool_choice_", "tool_choice"),
  byFlag("parallel_tool_calls_", "parallel_tool_calls"),
  ["num_tools_", (row) => (isAbsent(row["num_tools"]) ? undefined : pyStr(row["num_tools"]))],
  byFlag("has_distractors_", "has_distractors"),
  byText("instruction_layout_", "instruction_layout"),
  byText("instruction_detail_level_", "instruction_detail_level"),
  byText("system_instruction_style_", "system_instruction_style"),
  byText("tool_name_style_", "tool_name_style"),
  byText("distractor_style_", "distractor_style"),
  byText("tool_union_mode_", "tool_union_mode"),
];

/** Mean rewards by format, problem type and every other task property. */
export const structuredOutputsMetrics: MetricsHooks = {
  compute(tasks) {
    const rows = tasks.flat();
    const metrics: Record<string, number> = {};
    for (const [prefix, groupOf] of groupings) {
      const sums = new Map<string, { total: number; count: number }>();
      for (const row of rows) {
        const group = groupOf(row);
        if (group === undefined) continue;
        const sum = sums.get(group) ?? { total: 0, count: 0 };
        sum.total += typeof row["reward"] === "number" ? row["reward"] : 0;
        sum.count++;
        sums.set(group, sum);
      }
      for (const [group, { total, count }] of sums) metrics[`mean/reward_${prefix}${group}`] = total / count;
    }
    return metrics;
  },
};
