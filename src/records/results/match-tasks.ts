import { type ContentKind, hasInputs, type RunTask, type RunTasks, taskContents } from "./run-tasks.ts";

export const TASK_MATCHINGS = ["index", "content"] as const;
export type TaskMatching = (typeof TASK_MATCHINGS)[number];

/** A task of at least one of two runs; the numbers are its indices there. */
export interface MatchedTask {
  before: number | undefined;
  after: number | undefined;
}

/** How the tasks of two runs were matched. */
export interface MatchedTasks {
  by: TaskMatching;
  /** The data by which tasks were matched; undefined when neither run has it. */
  content: ContentKind | undefined;
  /** Tasks that were matched by index although their content differs; only on request. */
  differentContent: number;
  /** Tasks with the same index that were not matched because their content differs. */
  keptApart: number;
  tasks: MatchedTask[];
}

/**
 * Matches the tasks of two runs. By default, tasks with the same index and content match; the index is ignored if more
 * tasks match without it. Runs without content are matched by index only.
 */
export async function matchTasks(
  before: RunTasks,
  after: RunTasks,
  options: { by?: TaskMatching; signal?: AbortSignal } = {},
): Promise<MatchedTasks> {
  const kind: ContentKind = hasInputs(before) && hasInputs(after) ? "inputs" : "prompts";
  const read = { signal: options.signal };
  const contents = [await taskContents(before, kind, read), await taskContents(after, kind, read)] as const;
  const known = contents[0].size > 0 && contents[1].size > 0;
  const common = [...before.tasks.keys()].filter((task) => after.tasks.has(task));
  const agrees = (task: number) => contents[0].get(task) === contents[1].get(task);
  const agreeing = common.filter(agrees).length;
  const inAfter = new Set(contents[1].values());
  const shared = new Set([...contents[0].values()].filter((content) => inAfter.has(content))).size;
  const by = options.by ?? (shared > agreeing ? "content" : "index");
  const different = by === "index" && known ? common.length - agreeing : 0;
  const insists = options.by === "index";
  return {
    by,
    content: known ? kind : undefined,
    differentContent: insists ? different : 0,
    keptApart: insists ? 0 : different,
    tasks:
      by === "content"
        ? byContent(before, after, contents)
        : byIndex(before, after, insists || !known ? () => true : agrees),
  };
}

function byIndex(before: RunTasks, after: RunTasks, isSame: (task: number) => boolean): MatchedTask[] {
  const indices = new Set([...before.tasks.keys(), ...after.tasks.keys()]);
  return [...indices]
    .sort((left, right) => left - right)
    .flatMap((task) => {
      const first = before.tasks.has(task) ? task : undefined;
      const second = after.tasks.has(task) ? task : undefined;
      const areTwo = first !== undefined && second !== undefined && !isSame(task);
      return areTwo
        ? [
            { before: first, after: undefined },
            { before: undefined, after: second },
          ]
        : [{ before: first, after: second }];
    });
}

/** Tasks with the same content within one run are merged: the first one has all their rewards. */
function byContent(
  before: RunTasks,
  after: RunTasks,
  contents: readonly [ReadonlyMap<number, string>, ReadonlyMap<number, string>],
): MatchedTask[] {
  const matched = new Map<string, MatchedTask>();
  for (const [side, run] of [
    ["before", before],
    ["after", after],
  ] as const) {
    const own = contents[side === "before" ? 0 : 1];
    for (const task of [...run.tasks.keys()].sort((left, right) => left - right)) {
      const content = own.get(task) ?? `${side} ${task}`;
      const known = matched.get(content) ?? { before: undefined, after: undefined };
      matched.set(content, known);
      const first = known[side];
      if (first === undefined) known[side] = task;
      else joinTask(run, first, task);
    }
  }
  return [...matched.values()];
}

function joinTask(run: RunTasks, first: number, other: number): void {
  const [kept, joined] = [run.tasks.get(first), run.tasks.get(other)] as [RunTask, RunTask];
  kept.rewards.push(...joined.rewards);
  run.tasks.delete(other);
}
