import {
  checkOptions,
  flag,
  numberOption,
  type OptionTable,
  oneOfWords,
  signal,
  text,
  texts,
  whole,
} from "../../../base/check-options.ts";
import { dumpsCompact, loads } from "../../../base/python/json/door.ts";
import { RolloutError } from "../../errors.ts";
import { annotationsPath, readAnnotations } from "../../files/annotations.ts";
import { sidecarPath } from "../../files/artifact-paths.ts";
import { writeFileAtomically } from "../../files/atomic-file.ts";
import { type Row, readRows } from "../../files/jsonl-rows.ts";
import { LineAccess } from "../../files/line-access.ts";
import { seededNumbers } from "../../metrics/seeded-random.ts";
import { passRateProblem } from "../export/export-filters.ts";
import {
  DUPLICATE_RULES,
  type DuplicateRule,
  type ProfiledTask,
  profiledTask,
  taskRowOf,
} from "./profiled-task.ts";

/** Which tasks are preferred when there are more than requested. */
export const PREFERENCES = ["random", "deviation"] as const;
export type Preference = (typeof PREFERENCES)[number];

export interface SelectOptions {
  /** Files of `gym eval profile`. */
  profilePaths: readonly string[];
  outputPath: string;
  /** Only tasks whose share of passing rollouts lies in the window, both ends included. */
  passRateMin?: number;
  passRateMax?: number;
  /** A rollout passes when its reward reaches this. Default: 1. */
  passThreshold?: number;
  /** Only tasks whose rewards have at least this deviation. A model learns nothing from a group with equal rewards. */
  deviationMin?: number;
  /** Only tasks with at least this number of rollouts. Default: 1. */
  rolloutsMin?: number;
  /** Default: the same prompt. */
  duplicates?: DuplicateRule;
  /** The same number of tasks from every environment, as far as it has them. */
  balance?: boolean;
  /** Maximum number of tasks. */
  limit?: number;
  prefer?: Preference;
  seed?: number;
  /** Counts rollouts that were excluded in the viewer. */
  includeExcluded?: boolean;
  signal?: AbortSignal;
}

const optionTable: OptionTable<SelectOptions> = {
  profilePaths: texts,
  outputPath: text,
  passRateMin: numberOption.optional(),
  passRateMax: numberOption.optional(),
  passThreshold: numberOption.optional(),
  deviationMin: numberOption.optional(),
  rolloutsMin: numberOption.optional(),
  duplicates: oneOfWords(DUPLICATE_RULES).optional(),
  balance: flag.optional(),
  limit: whole(0).optional(),
  prefer: oneOfWords(PREFERENCES).optional(),
  seed: numberOption.optional(),
  includeExcluded: flag.optional(),
  signal: signal.optional(),
};

/** Why tasks were left out; each task counts for the first reason that applied. */
const REASONS = [
  "excluded",
  "too_few_rollouts",
  "pass_rate",
  "deviation",
  "duplicate",
  "balance",
  "limit",
] as const;
type LeftOut = Record<(typeof REASONS)[number], number>;

interface EnvironmentReport {
  read: number;
  selected: number;
  /** Means over the selected tasks; null without any. */
  pass_rate: number | null;
  deviation: number | null;
}

/** The report of the selection, as written to `<output>_selection.json`. */
export interface SelectionReport {
  read: number;
  selected: number;
  left_out: LeftOut;
  environments: Record<string, EnvironmentReport>;
  /** Tasks by pass rate: from 0 to below 0.1, …, from 0.9 to below 1, exactly 1. */
  pass_rates: { read: number[]; selected: number[] };
  settings: Record<string, unknown>;
}

const BUCKETS = 11;

/**
 * Selects the tasks of the next training set by the results of the policy. The same profiles, settings and seed give
 * the same rows, in the order of the profiles.
 */
export async function selectTasks(
  options: SelectOptions,
): Promise<{ report: SelectionReport; reportPath: string }> {
  checkOptions("selectTasks", optionTable, options);
  const settings = settingsOf(options);
  const leftOut = Object.fromEntries(REASONS.map((reason) => [reason, 0])) as LeftOut;
  const { tasks, read } = await readTasks(options, settings, leftOut);
  const fitting = filterTasks(tasks, settings, leftOut);
  const selected = chooseTasks(fitting, settings, leftOut);
  const report: SelectionReport = {
    read,
    selected: selected.length,
    left_out: leftOut,
    environments: environmentReports(tasks, selected),
    pass_rates: { read: histogram(tasks), selected: histogram(selected) },
    settings,
  };
  await writeFileAtomically(options.outputPath, taskLines(selected, options.profilePaths));
  const reportPath = sidecarPath(options.outputPath, "_selection", ".json");
  await writeFileAtomically(reportPath, [`${JSON.stringify(report, null, 2)}\n`]);
  return { report, reportPath };
}

/** The options with their defaults; rejects values out of range. */
function settingsOf(options: SelectOptions) {
  const settings = {
    profiles: options.profilePaths,
    pass_rate_min: options.passRateMin ?? 0,
    pass_rate_max: options.passRateMax ?? 1,
    pass_threshold: options.passThreshold ?? 1,
    deviation_min: options.deviationMin ?? 0,
    rollouts_min: options.rolloutsMin ?? 1,
    duplicates: options.duplicates ?? "prompt",
    balance: options.balance ?? false,
    limit: options.limit ?? null,
    prefer: options.prefer ?? "random",
    seed: options.seed ?? 0,
  };
  const problem = passRateProblem(settings.pass_rate_min, settings.pass_rate_max);
  if (problem !== undefined) throw invalid(problem);
  if (!(settings.deviation_min >= 0))
    throw invalid(`a deviation must be at least 0, not ${settings.deviation_min}`);
  for (const count of [settings.limit, settings.rollouts_min]) {
    if (count !== null && !(Number.isInteger(count) && count >= 1))
      throw invalid(`a number of tasks or rollouts is a whole number of at least 1, not ${count}`);
  }
  return settings;
}

type Settings = ReturnType<typeof settingsOf>;

const invalid = (problem: string) =>
  new RolloutError("ROLLOUT_SELECTION", `These settings cannot be used: ${problem}.`);

async function readTasks(
  { profilePaths, includeExcluded, signal }: SelectOptions,
  { pass_threshold: passThreshold, duplicates }: Settings,
  leftOut: LeftOut,
): Promise<{ tasks: ProfiledTask[]; read: number }> {
  const tasks: ProfiledTask[] = [];
  let read = 0;
  for (const [file, path] of profilePaths.entries()) {
    const rollouts = path.replace(/_reward_profiling\.jsonl$/, ".jsonl");
    const annotations = includeExcluded
      ? new Map<string, never>()
      : await readAnnotations(annotationsPath(rollouts), { signal });
    for await (const line of readRows(path, { signal })) {
      read++;
      const task = profiledTask(line, { path, file, passThreshold, duplicates, annotations });
      if (task) tasks.push(task);
      else leftOut.excluded++;
    }
  }
  if (read === 0) throw new RolloutError("ROLLOUT_INPUT_EMPTY", "The profiles contain no tasks.");
  return { tasks, read };
}

function filterTasks(tasks: readonly ProfiledTask[], settings: Settings, leftOut: LeftOut): ProfiledTask[] {
  const seen = new Set<string>();
  const reasonOf = ({ rollouts, passRate, deviation, identity }: ProfiledTask): keyof LeftOut | undefined => {
    if (rollouts < settings.rollouts_min) return "too_few_rollouts";
    if (passRate < settings.pass_rate_min || passRate > settings.pass_rate_max) return "pass_rate";
    if (deviation < settings.deviation_min) return "deviation";
    if (identity !== undefined && seen.has(identity)) return "duplicate";
    if (identity !== undefined) seen.add(identity);
    return undefined;
  };
  return tasks.filter((task) => {
    const reason = reasonOf(task);
    if (reason) leftOut[reason]++;
    return reason === undefined;
  });
}

/** Selects the requested number of tasks; returns them in the order of the profiles. */
function chooseTasks(
  fitting: readonly ProfiledTask[],
  { limit, balance, prefer, seed }: Settings,
  leftOut: LeftOut,
): ProfiledTask[] {
  const random = seededNumbers(seed);
  const ranked = fitting
    .map((task, place) => ({ task, place, lot: random() }))
    .sort((a, b) => (prefer === "deviation" ? b.task.deviation - a.task.deviation : 0) || a.lot - b.lot);
  const groups = new Map<string, typeof ranked>();
  for (const entry of ranked) {
    const key = balance ? entry.task.environment : "";
    const group = groups.get(key);
    if (group) group.push(entry);
    else groups.set(key, [entry]);
  }
  const sizes = [...groups.values()].map(({ length }) => length);
  const wanted = limit ?? (balance ? Math.min(...sizes) * sizes.length : fitting.length);
  const shares = fairShares(sizes, wanted);
  const chosen = [...groups.values()].flatMap((group, index) => group.slice(0, shares[index]));
  leftOut[limit === null ? "balance" : "limit"] += fitting.length - chosen.length;
  return chosen.sort((a, b) => a.place - b.place).map(({ task }) => task);
}

/** Splits a number equally among groups. If a group is smaller than its share, the others get the rest. */
function fairShares(sizes: readonly number[], wanted: number): number[] {
  const shares = sizes.map(() => 0);
  let left = Math.min(
    wanted,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const ascending = sizes.map((_, index) => index).sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0));
  for (const [rank, index] of ascending.entries()) {
    const share = Math.min(sizes[index] ?? 0, Math.floor(left / (sizes.length - rank)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

function environmentReports(
  tasks: readonly ProfiledTask[],
  selected: readonly ProfiledTask[],
): Record<string, EnvironmentReport> {
  const names = [...new Set(tasks.map(({ environment }) => environment))].sort();
  const mean = (own: readonly ProfiledTask[], name: "passRate" | "deviation") =>
    own.length === 0 ? null : own.reduce((sum, task) => sum + task[name], 0) / own.length;
  return Object.fromEntries(
    names.map((name) => {
      const own = selected.filter(({ environment }) => environment === name);
      const read = tasks.filter(({ environment }) => environment === name).length;
      return [
        name,
        { read, selected: own.length, pass_rate: mean(own, "passRate"), deviation: mean(own, "deviation") },
      ];
    }),
  );
}

function histogram(tasks: readonly ProfiledTask[]): number[] {
  const counts = new Array<number>(BUCKETS).fill(0);
  for (const { passRate } of tasks) {
    const bucket = Math.min(BUCKETS - 1, Math.floor(passRate * (BUCKETS - 1) + Number.EPSILON));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

/** The task rows unchanged: numbers and the order of keys are preserved. */
function* taskLines(tasks: readonly ProfiledTask[], paths: readonly string[]): Generator<string> {
  const files = paths.map((path) => new LineAccess(path));
  try {
    for (const { file, offset } of tasks) {
      const line = files[file]?.lineAt(offset) ?? "";
      yield `${dumpsCompact(taskRowOf(loads(line) as Row))}\n`;
    }
  } finally {
    for (const file of files) file.close();
  }
}
