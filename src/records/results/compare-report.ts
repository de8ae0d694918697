import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import { suggest } from "../../base/suggest.ts";
import { RolloutError } from "../errors.ts";
import { aggregateMetrics } from "../metrics/aggregate.ts";
import { mean, sampleDeviation } from "../metrics/descriptive.ts";
import { tQuantile } from "../metrics/distributions.ts";
import { isComparable } from "../metrics/key-metrics.ts";

/** Reward lists are given for this many flips of each direction. */
const FLIPS_WITH_REWARDS = 10;

/** A run as its file of aggregate metrics describes it. */
export interface AggregateSide {
  rollouts: string;
  metricsFile: string;
  label: string;
  /** The parsed file. */
  content: unknown;
}

export interface ReportOptions {
  /** The agent of all runs. */
  agent?: string;
  baselineAgent?: string;
  /** The agent of each candidate, in their order. */
  candidateAgents?: readonly string[];
}

type Entry = JsonObject & { name: string };
/** The entries of one agent: that of the baseline, then those of the candidates. */
type Compared = [Entry, ...Entry[]];

/** Compares runs with the first by their files of aggregate metrics: `compare_report.json` without its time and version. */
export function compareReport(
  baseline: AggregateSide,
  candidates: readonly AggregateSide[],
  options: ReportOptions = {},
): JsonObject {
  const before = entriesOf(baseline);
  const after = candidates.map(entriesOf);
  const warnings: string[] = [];
  const skipped: Record<string, string[]> = {};
  const compared = comparedAgents(before, after, options, (side, names) => {
    skipped[side] = names;
    warnings.push(`Only ${side} has ${names.join(", ")}, which is not compared.`);
  });
  return {
    schema_version: "1",
    baseline: described("baseline", 0, baseline, before),
    candidates: candidates.map((side, index) =>
      described("candidate", index, side, after[index] as ReadonlyMap<string, Entry>),
    ),
    comparisons: compared.map(comparison),
    skipped_agents: skipped,
    warnings,
  };
}

function described(
  role: string,
  index: number,
  side: AggregateSide,
  entries: ReadonlyMap<string, Entry>,
): JsonObject {
  return {
    role,
    index,
    rollouts_jsonl_fpath: side.rollouts,
    aggregate_metrics_fpath: side.metricsFile,
    label: side.label,
    agent_names: [...entries.keys()].sort(),
  };
}

/** The entries of a file by agent. */
function entriesOf({ content, metricsFile }: AggregateSide): Map<string, Entry> {
  const fail = (problem: string) => invalid(`'${metricsFile}' ${problem}.`);
  if (!Array.isArray(content)) throw fail("is not a list of metrics");
  if (content.length === 0) throw fail("has no metrics");
  const entries = new Map<string, Entry>();
  for (const [index, entry] of content.entries()) {
    if (!isObject(entry)) throw fail(`has an entry ${index} that is not an object`);
    const name = objectAt(entry, "agent_ref")["name"];
    if (typeof name !== "string") throw fail(`has an entry ${index} without 'agent_ref.name'`);
    if (entries.has(name)) throw fail(`has two entries for '${name}'`);
    entries.set(name, withRepeats({ ...entry, name }));
  }
  return entries;
}

/** Files of older versions have no statistics of repeats. They are computed from the rewards of the tasks. */
function withRepeats(entry: Entry): Entry {
  if (listAt(entry, "repeat_level_metrics").length > 0) return entry;
  const rows = listAt(entry, "group_level_metrics").flatMap((group) => listAt(group, "rollout_infos"));
  if (rows.length === 0) return entry;
  const { agent_metrics, repeat_level_metrics } = aggregateMetrics(rows);
  const across = Object.entries(agent_metrics).filter(([name]) => name.includes("_across_repeats/"));
  return {
    ...entry,
    agent_metrics: { ...Object.fromEntries(across), ...objectAt(entry, "agent_metrics") },
    repeat_level_metrics: repeat_level_metrics ?? [],
  };
}

function comparedAgents(
  before: ReadonlyMap<string, Entry>,
  after: readonly ReadonlyMap<string, Entry>[],
  { agent, baselineAgent = agent, candidateAgents = [] }: ReportOptions,
  onSkipped: (side: string, names: string[]) => void,
): Compared[] {
  if (candidateAgents.length > 0 && candidateAgents.length !== after.length)
    throw invalid(
      `--candidate-agents names ${candidateAgents.length} agents, but there are ${after.length} candidates.`,
    );
  const first = baselineAgent ?? candidateAgents[0];
  if (first !== undefined) {
    const others = after.map((entries, index) => entryOf(entries, candidateAgents[index] ?? agent ?? first));
    return [[entryOf(before, first), ...others]];
  }
  const sides = [before, ...after];
  const shared = [...before.keys()].filter((name) => sides.every((side) => side.has(name))).sort();
  if (shared.length === 0)
    throw invalid(
      `The runs have no agent in common: ${sides.map((side) => [...side.keys()].join(", ")).join(" and ")}. Name one of each with --baseline-agent and --candidate-agents.`,
    );
  for (const [index, side] of sides.entries()) {
    const alone = [...side.keys()].filter((name) => !shared.includes(name)).sort();
    if (alone.length > 0) onSkipped(index === 0 ? "baseline" : `candidate[${index - 1}]`, alone);
  }
  return shared.map((name) => sides.map((side) => entryOf(side, name)) as Compared);
}

function entryOf(entries: ReadonlyMap<string, Entry>, name: string): Entry {
  const entry = entries.get(name);
  if (entry) return entry;
  const nearest = suggest(name, [...entries.keys()]);
  const hint = nearest === undefined ? "" : ` Did you mean '${nearest}'?`;
  throw invalid(`There is no agent '${name}'. Agents: ${[...entries.keys()].join(", ")}.${hint}`);
}

function comparison(compared: Compared): JsonObject {
  const [before, ...after] = compared;
  const metrics = metricsOf(compared);
  const repeats = compared.map(repeatCount);
  const notes: string[] = [];
  if (new Set(repeats).size > 1)
    notes.push(`The runs have different numbers of repeats: ${repeats.join(" and ")}.`);
  if (!metrics.some(hasInterval)) notes.push("Neither run has intervals: they need at least two repeats.");
  const oneSided = metrics.filter(
    ({ present_in }) => (present_in as unknown[]).length < compared.length,
  ).length;
  if (oneSided > 0) notes.push(`${oneSided} metrics exist in one run only.`);
  return {
    baseline_agent: before.name,
    candidate_agents: after.map(({ name }) => name),
    baseline_task_count: listAt(before, "group_level_metrics").length,
    candidate_task_counts: after.map((entry) => listAt(entry, "group_level_metrics").length),
    baseline_repeat_count: repeats[0],
    candidate_repeat_counts: repeats.slice(1),
    metrics,
    flips: after.map((entry, index) => flipsOf(before, entry, index)),
    notes,
  };
}

function hasInterval({ baseline, candidates }: JsonObject): boolean {
  return [baseline, ...(candidates as unknown[])].some(
    (value) => isObject(value) && typeof value["ci_low"] === "number",
  );
}

function repeatCount(entry: Entry): number {
  const expected = listAt(entry, "group_level_metrics").map((group) =>
    Number(group["expected_num_rollouts"]),
  );
  const known = expected.filter(Number.isFinite);
  return known.length > 0 ? Math.max(...known) : listAt(entry, "repeat_level_metrics").length;
}

/** The comparable metrics of the runs: key metrics first, in the order of the baseline. */
function metricsOf(compared: Compared): JsonObject[] {
  const own = compared.map((entry) => ({
    ...objectAt(entry, "key_metrics"),
    ...objectAt(entry, "agent_metrics"),
  }));
  const [first = {}, ...others] = own;
  const isGiven = (values: JsonObject, name: string) => typeof values[name] === "number";
  const names = [...new Set(own.flatMap((values) => Object.keys(values)))].filter((name) =>
    isComparable(name, own.find((values) => values[name] !== undefined)?.[name]),
  );
  if (!names.some((name) => isGiven(first, name) && others.some((values) => isGiven(values, name))))
    throw invalid(`The runs have no metric in common ('${compared[0].name}').`);
  const keys = new Set(compared.flatMap((entry) => Object.keys(objectAt(entry, "key_metrics"))));
  return names.map((name) => ({
    metric: name,
    is_key_metric: keys.has(name),
    present_in: own.flatMap((values, index) =>
      isGiven(values, name) ? [index === 0 ? "baseline" : `candidate[${index - 1}]`] : [],
    ),
    baseline: measured(first, name),
    candidates: others.map((values, index) => ({
      ...measured(values, name),
      ...deltaOf(name, first, values, compared[0], compared[index + 1] as Entry),
    })),
  }));
}

function measured(metrics: JsonObject, name: string): JsonObject {
  const number = (key: string) => (typeof metrics[key] === "number" ? metrics[key] : null);
  return {
    value: number(name),
    ci_low: number(`ci_low_95_across_repeats/${name}`),
    ci_high: number(`ci_high_95_across_repeats/${name}`),
    se_across_repeats: number(`se_across_repeats/${name}`),
    mean_across_repeats: number(`mean_across_repeats/${name}`),
    std_err_across_runs: number(`${name}/std_err_across_runs`),
  };
}

function deltaOf(
  name: string,
  first: JsonObject,
  second: JsonObject,
  before: Entry,
  after: Entry,
): JsonObject {
  const across = `mean_across_repeats/${name}`;
  const key = typeof first[across] === "number" && typeof second[across] === "number" ? across : name;
  const [from, to] = [first[key], second[key]];
  const delta = typeof from === "number" && typeof to === "number" ? to - from : null;
  const interval =
    key === across ? welchInterval(repeatValues(before, name), repeatValues(after, name)) : null;
  return {
    delta,
    delta_pct: delta === null || !from ? null : (delta / Math.abs(from as number)) * 100,
    delta_ci_low: interval?.[0] ?? null,
    delta_ci_high: interval?.[1] ?? null,
  };
}

function repeatValues(entry: Entry, name: string): number[] {
  return listAt(entry, "repeat_level_metrics")
    .map((repeat) => repeat[name])
    .filter((value): value is number => typeof value === "number" && Number.isFinite(value));
}

/** Welch's two-sided 95 % interval of the difference of two means. */
function welchInterval(before: readonly number[], after: readonly number[]): [number, number] | null {
  if (before.length < 2 || after.length < 2) return null;
  const delta = mean(after) - mean(before);
  const [a, b] = [before, after].map((values) => sampleDeviation(values) ** 2 / values.length) as [
    number,
    number,
  ];
  const variance = a + b;
  if (variance === 0) return [delta, delta];
  const freedom = variance ** 2 / (a ** 2 / (before.length - 1) + b ** 2 / (after.length - 1));
  const reach = tQuantile(0.975, freedom) * Math.sqrt(variance);
  return [delta - reach, delta + reach];
}

interface TaskScore {
  score: number;
  isBinary: boolean;
  rewards: unknown[];
}

/** The tasks that changed between the runs, matched by their index. */
function flipsOf(before: Entry, after: Entry, index: number): JsonObject {
  const [first, second] = [scoresOf(before), scoresOf(after)];
  const common = [...first.keys()].filter((task) => second.has(task)).sort((left, right) => left - right);
  const counts = {
    candidate_index: index,
    field: "reward",
    common_task_count: common.length,
    baseline_only_task_count: first.size - common.length,
    candidate_only_task_count: second.size - common.length,
  };
  const none = { pass_to_fail_count: null, fail_to_pass_count: null, tied_count: null, net: null };
  if (common.length === 0) {
    const reason = "The runs have no task with a reward in common.";
    return { ...counts, mode: "unavailable", reason, ...none, unchanged_count: null, flips: [] };
  }
  const pairs = common.map((task) => {
    const [from, to] = [first.get(task), second.get(task)] as [TaskScore, TaskScore];
    return { task, from, to, delta: to.score - from.score };
  });
  const isBinary = [...first.values(), ...second.values()].every((score) => score.isBinary);
  if (!isBinary) {
    const changed = pairs
      .filter(({ delta }) => delta !== 0)
      .sort((left, right) => Math.abs(right.delta) - Math.abs(left.delta) || left.task - right.task);
    return {
      ...counts,
      mode: "continuous",
      reason: null,
      ...none,
      unchanged_count: pairs.length - changed.length,
      flips: changed.map((pair, index) => flip(pair, "changed", index)),
    };
  }
  const tied = pairs.filter(({ from, to }) => from.score === 0.5 || to.score === 0.5);
  const decided = pairs.filter((pair) => !tied.includes(pair));
  const lost = decided.filter(({ from, to }) => from.score > 0.5 && to.score < 0.5);
  const won = decided.filter(({ from, to }) => from.score < 0.5 && to.score > 0.5);
  return {
    ...counts,
    mode: "binary",
    reason: null,
    pass_to_fail_count: lost.length,
    fail_to_pass_count: won.length,
    tied_count: tied.length,
    unchanged_count: decided.length - lost.length - won.length,
    net: won.length - lost.length,
    flips: [
      ...lost.map((pair, index) => flip(pair, "pass_to_fail", index)),
      ...won.map((pair, index) => flip(pair, "fail_to_pass", index)),
    ],
  };
}

function flip(
  { task, from, to, delta }: { task: number; from: TaskScore; to: TaskScore; delta: number },
  direction: string,
  index: number,
): JsonObject {
  const isShown = index < FLIPS_WITH_REWARDS;
  return {
    task_index: task,
    baseline_score: from.score,
    candidate_score: to.score,
    delta,
    direction,
    baseline_rewards: isShown ? from.rewards : null,
    candidate_rewards: isShown ? to.rewards : null,
  };
}

function scoresOf(entry: Entry): Map<number, TaskScore> {
  const scores = new Map<number, TaskScore>();
  for (const group of listAt(entry, "group_level_metrics")) {
    const { _ng_task_index: task, "mean/reward": score } = group;
    if (typeof task !== "number" || typeof score !== "number") continue;
    const bounds = [group["min/reward"] ?? score, group["max/reward"] ?? score];
    scores.set(task, {
      score,
      isBinary: bounds.every((bound) => bound === 0 || bound === 1),
      rewards: listAt(group, "rollout_infos").map((info) => info["reward"] ?? null),
    });
  }
  return scores;
}

function objectAt(entry: JsonObject, key: string): JsonObject {
  const value = entry[key];
  return isObject(value) ? value : {};
}

function listAt(entry: JsonObject, key: string): JsonObject[] {
  const value = entry[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function invalid(message: string): RolloutError {
  return new RolloutError("ROLLOUT_NOTHING_IN_COMMON", message);
}
