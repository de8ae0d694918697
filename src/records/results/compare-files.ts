import {
  checkOptions,
  numberOption,
  type OptionTable,
  oneOfWords,
  signal as signalOption,
} from "../../base/check-options.ts";
import { RolloutError } from "../errors.ts";
import type { Row } from "../files/jsonl-rows.ts";
import { LineAccess } from "../files/line-access.ts";
import { modelOfRun } from "../files/manifest.ts";
import { type CompareOptions, compareRuns, type RunComparison } from "../metrics/compare.ts";
import type { Coverage } from "../metrics/coverage.ts";
import { type MatchedTask, matchTasks, TASK_MATCHINGS, type TaskMatching } from "./match-tasks.ts";
import { type ContentKind, type RunTasks, readRunTasks, taskPromptOf } from "./run-tasks.ts";

/** Maximum length of the excerpt of a task's prompt. */
const MAX_EXCERPT = 200;

export interface ComparedRun {
  path: string;
  /** The model of the run; null if no manifest names one. */
  model: string | null;
  tasks: number;
  /** Rollouts whose rewards are compared. */
  rollouts: number;
  masked: number;
  without_reward: number;
  coverage: Coverage;
}

export interface FlippedTask {
  before_index: number;
  after_index: number;
  before: number;
  after: number;
  difference: number;
  agent: string | null;
  /** The beginning of the prompt. */
  prompt: string | null;
}

type Numbers = Omit<RunComparison, "flipped">;

export interface FilesComparison extends Numbers {
  runs: { before: ComparedRun; after: ComparedRun };
  matched_by: TaskMatching;
  /** The data by which tasks were matched; null when neither run has it. */
  matched_content: ContentKind | null;
  /** Tasks that were compared by their index although their content differs (`--match index`). */
  different_content: number;
  /** Tasks with the same index but different content, which count as tasks of one run only. */
  kept_apart: number;
  common_tasks: number;
  pass_threshold: number;
  /** Indices in the respective run. */
  only_before: number[];
  only_after: number[];
  flipped: FlippedTask[];
  /** The same for every agent that both runs have, if there are several. */
  agents: ({ agent: string; common_tasks: number } & Numbers)[];
}

export interface CompareFilesOptions extends CompareOptions {
  matchBy?: TaskMatching;
  signal?: AbortSignal;
}

const optionTable: OptionTable<CompareFilesOptions> = {
  level: numberOption.optional(),
  passThreshold: numberOption.optional(),
  seed: numberOption.optional(),
  matchBy: oneOfWords(TASK_MATCHINGS).optional(),
  signal: signalOption.optional(),
};

const DEFAULT_PASS_THRESHOLD = 0.5;

/** Compares two rollouts files task by task; `docs/reference/statistics.md` has the formulas. */
export async function compareFiles(
  beforePath: string,
  afterPath: string,
  options: CompareFilesOptions = {},
): Promise<FilesComparison> {
  checkOptions("compare", optionTable, options);
  const { matchBy, signal, ...statistics } = options;
  const before = await readRunTasks(beforePath, { signal });
  const after = await readRunTasks(afterPath, { signal });
  const runs = { before: await comparedRun(before), after: await comparedRun(after) };
  const matched = await matchTasks(before, after, { by: matchBy, signal });
  const common = matched.tasks.filter((task) => task.before !== undefined && task.after !== undefined);
  if (common.length === 0) {
    const counts = `${before.tasks.size} and ${after.tasks.size} tasks, matched by ${matched.by}`;
    const hint =
      matched.keptApart === 0
        ? ""
        : ` ${matched.keptApart} have the same index, but other ${matched.content}: --match index compares them anyway, for example for two prompts on the same data.`;
    throw new RolloutError(
      "ROLLOUT_NOTHING_IN_COMMON",
      `'${before.path}' and '${after.path}' have no task in common (${counts}).${hint}`,
    );
  }
  const compare = (tasks: readonly MatchedTask[]) =>
    compareRuns(...rewardsOf(before, after, tasks), statistics);
  const { flipped, ...numbers } = compare(matched.tasks);
  return {
    runs,
    matched_by: matched.by,
    matched_content: matched.content ?? null,
    different_content: matched.differentContent,
    kept_apart: matched.keptApart,
    common_tasks: common.length,
    pass_threshold: statistics.passThreshold ?? DEFAULT_PASS_THRESHOLD,
    ...numbers,
    only_before: matched.tasks.flatMap((task) => (task.after === undefined ? (task.before ?? []) : [])),
    only_after: matched.tasks.flatMap((task) => (task.before === undefined ? (task.after ?? []) : [])),
    flipped: flippedTasks(flipped, matched.tasks, before),
    agents: agentsInBoth(before, after, common).map(([agent, tasks]) => {
      const { flipped: _flipped, ...own } = compare(tasks);
      return { agent, common_tasks: tasks.length, ...own };
    }),
  };
}

/** Task numbers for the statistics: the index in the list of matched tasks, the same in both runs. */
function rewardsOf(before: RunTasks, after: RunTasks, tasks: readonly MatchedTask[]) {
  const rewards = [new Map<number, number[]>(), new Map<number, number[]>()] as const;
  for (const [place, task] of tasks.entries()) {
    const first = task.before === undefined ? undefined : before.tasks.get(task.before);
    const second = task.after === undefined ? undefined : after.tasks.get(task.after);
    if (first) rewards[0].set(place, first.rewards);
    if (second) rewards[1].set(place, second.rewards);
  }
  return rewards;
}

async function comparedRun(run: RunTasks): Promise<ComparedRun> {
  const { path, tasks, rollouts, masked, withoutReward, coverage } = run;
  return {
    path,
    model: await modelOfRun(path),
    tasks: tasks.size,
    rollouts,
    masked,
    without_reward: withoutReward,
    coverage,
  };
}

function flippedTasks(
  flipped: RunComparison["flipped"],
  tasks: readonly MatchedTask[],
  run: RunTasks,
): FlippedTask[] {
  if (flipped.length === 0) return [];
  const file = new LineAccess(run.path);
  try {
    return flipped.map(({ task: place, before, after, difference }) => {
      const { before: first = 0, after: second = 0 } = tasks[place] ?? {};
      const task = run.tasks.get(first);
      const row = task && (JSON.parse(file.lineAt(task.offset)) as Row);
      return {
        before_index: first,
        after_index: second,
        before,
        after,
        difference,
        agent: task?.agent ?? null,
        prompt: row ? excerptOf(taskPromptOf(row)) : null,
      };
    });
  } finally {
    file.close();
  }
}

/** The last user message, on one line. */
function excerptOf(prompt: unknown): string | null {
  const input = prompt !== null && typeof prompt === "object" && "input" in prompt ? prompt.input : prompt;
  const texts = Array.isArray(input)
    ? input
        .filter((item: Row | null) => item?.["role"] === "user")
        .map((item: Row) => textOf(item["content"]))
    : [textOf(input)];
  const text = texts.at(-1)?.replace(/\s+/g, " ").trim();
  if (!text) return null;
  return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part: { text?: unknown } | null) => (typeof part?.text === "string" ? part.text : ""))
    .join(" ");
}

/** The common tasks of each agent; empty for a single agent. */
function agentsInBoth(before: RunTasks, after: RunTasks, common: readonly MatchedTask[]) {
  const tasks = new Map<string, MatchedTask[]>();
  for (const task of common) {
    const agent = task.before === undefined ? undefined : before.tasks.get(task.before)?.agent;
    const other = task.after === undefined ? undefined : after.tasks.get(task.after)?.agent;
    if (agent === undefined || agent !== other) continue;
    const own = tasks.get(agent);
    if (own) own.push(task);
    else tasks.set(agent, [task]);
  }
  return tasks.size < 2 ? [] : [...tasks];
}
