import { isObject, type JsonObject } from "../../base/python/json/door.ts";

/** Flips of each direction that are listed. */
const SHOWN_FLIPS = 10;

/** `compare_report.md`: a section for each agent, with a table for each candidate. */
export function compareMarkdown(report: JsonObject): string {
  const candidates = objects(report["candidates"]);
  const comparisons = objects(report["comparisons"]);
  const runs = [report["baseline"] as JsonObject, ...candidates];
  const lines = [
    "# Comparison of runs",
    "",
    ...table(
      ["Run", "Label", "Rollouts", "Agents"],
      runs.map((run, index) => [
        index === 0 ? "Baseline" : nameOf(index - 1, candidates.length),
        text(run["label"]),
        text(run["rollouts_jsonl_fpath"]),
        (run["agent_names"] as string[]).join(", "),
      ]),
    ),
  ];
  for (const comparison of comparisons) {
    if (comparisons.length > 1) lines.push("", `## ${text(comparison["baseline_agent"])}`);
    for (const index of candidates.keys())
      lines.push(...candidateLines(comparison, index, candidates.length));
    lines.push(...list("Notes", comparison["notes"]));
  }
  lines.push(...list("Warnings", report["warnings"]));
  return `${lines.join("\n")}\n`;
}

function candidateLines(comparison: JsonObject, index: number, count: number): string[] {
  const name = `candidate[${index}]`;
  const own = objects(comparison["metrics"]).filter(({ present_in }) => {
    const present = present_in as string[];
    return present.includes("baseline") || present.includes(name);
  });
  const shared = own.filter(({ present_in }) => {
    const present = present_in as string[];
    return present.includes("baseline") && present.includes(name);
  });
  const oneSided = own.filter((metric) => !shared.includes(metric));
  const key = shared.filter(({ is_key_metric }) => is_key_metric === true);
  const other = shared.filter((metric) => !key.includes(metric));
  const lines: string[] = count > 1 ? ["", `### ${nameOf(index, count)}`] : [];
  lines.push("", "Key metrics:", "", ...metricTable(key, index));
  if (other.length > 0)
    lines.push(
      "",
      `<details><summary>${other.length} other metrics</summary>`,
      "",
      ...metricTable(other, index),
      "",
      "</details>",
    );
  const flips = objects(comparison["flips"])[index];
  if (flips) lines.push("", ...flipLines(flips));
  if (oneSided.length > 0)
    lines.push("", `In one run only: ${oneSided.map(({ metric }) => `\`${text(metric)}\``).join(", ")}`);
  return lines;
}

function nameOf(index: number, count: number): string {
  return count > 1 ? `Candidate ${index + 1}` : "Candidate";
}

function metricTable(metrics: readonly JsonObject[], index: number): string[] {
  const columns = [
    "Metric",
    "Δ (cand − base)",
    "95% CI for Δ (cand − base)",
    "Baseline",
    "Baseline 95% CI",
    "Candidate",
    "Candidate 95% CI",
  ];
  return table(
    columns,
    metrics.map((metric) => metricCells(metric, index)),
  );
}

/** The cells of one metric: name, difference with interval, both values with intervals. */
export function metricCells(metric: JsonObject, index: number): string[] {
  const before = metric["baseline"] as JsonObject;
  const after = objects(metric["candidates"])[index] ?? {};
  const delta = after["delta"];
  const sign = typeof delta === "number" && delta > 0 ? "+" : "";
  return [
    text(metric["metric"]),
    sign + number(delta),
    interval(after["delta_ci_low"], after["delta_ci_high"]),
    number(shown(before)),
    interval(before["ci_low"], before["ci_high"]),
    number(shown(after)),
    interval(after["ci_low"], after["ci_high"]),
  ];
}

function shown(value: JsonObject): unknown {
  return value["mean_across_repeats"] ?? value["value"];
}

/** The line about the tasks that changed. */
export function flipText(flips: JsonObject): string {
  const common = flips["common_task_count"];
  if (flips["mode"] === "unavailable") return `Sample flips unavailable: ${text(flips["reason"])}`;
  if (flips["mode"] === "continuous")
    return `Per-task changes: ${objects(flips["flips"]).length} of ${common} common tasks moved`;
  return `Sample flips: ${flips["fail_to_pass_count"]} fail→pass, ${flips["pass_to_fail_count"]} pass→fail over ${common} common tasks`;
}

function flipLines(flips: JsonObject): string[] {
  const listed = objects(flips["flips"]);
  const kinds = [...new Set(listed.map(({ direction }) => text(direction)))];
  const lines = [flipText(flips)];
  for (const kind of kinds) {
    const own = listed.filter(({ direction }) => direction === kind);
    const rows = own
      .slice(0, SHOWN_FLIPS)
      .map((flip) => [
        text(flip["task_index"]),
        number(flip["baseline_score"]),
        number(flip["candidate_score"]),
        rewards(flip["baseline_rewards"]),
        rewards(flip["candidate_rewards"]),
      ]);
    const more = own.length > rows.length ? `, the first ${rows.length}` : "";
    lines.push("", `${kind.replaceAll("_", " ")}: ${own.length}${more}`, "");
    lines.push(...table(["Task", "Baseline", "Candidate", "Baseline rewards", "Candidate rewards"], rows));
  }
  return lines;
}

function rewards(given: unknown): string {
  return Array.isArray(given)
    ? given.map((reward) => String(Number(Number(reward).toPrecision(6)))).join(", ")
    : "—";
}

function number(value: unknown): string {
  if (typeof value !== "number") return "—";
  return value.toFixed(Math.abs(value) < 10 ? 4 : 2);
}

function interval(low: unknown, high: unknown): string {
  return typeof low === "number" && typeof high === "number" ? `[${number(low)}, ${number(high)}]` : "—";
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/[|\\\r\n]/g, escaped)).join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)];
}

function list(title: string, given: unknown): string[] {
  const items = Array.isArray(given) ? given.map(text) : [];
  return items.length === 0 ? [] : ["", `${title}:`, "", ...items.map((item) => `- ${item}`)];
}

function objects(given: unknown): JsonObject[] {
  return Array.isArray(given) ? given.filter(isObject) : [];
}

function text(given: unknown): string {
  return given === null || given === undefined ? "—" : String(given);
}

function escaped(character: string): string {
  return character === "|" || character === "\\" ? `\\${character}` : " ";
}
