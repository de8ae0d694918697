import { type ContentKind, hasInputs, type RunTask, type RunTasks, taskContents } from "./run-tasks.ts";

export type TaskMatching = "index" | "content";

/** A task as at least one of two runs has it; the numbers are its indices there. */
export interface MatchedTask {
  before: number | undefined;
  after: number | undefined;
}

/** How the tasks of two runs were brought together. */
export interface MatchedTasks {
  by: TaskMatching;
  /** What was compared to find out whether tasks are the same; undefined when neither run says what it was about. */
  content: ContentKind | undefined;
  /** Tasks with the same index but different content; only with `by: "index"`. */
  differentContent: number;
  tasks: MatchedTask[];
}

/**
 * Brings the tasks of two runs together. Unless told how, tasks with the same index are the same; by content it goes only where that
 * finds more tasks that ask the same.
 */
export async function matchTasks(
  before: RunTasks,
  after: RunTasks,
  options: { by?: TaskMatching; signal?: AbortSignal } = {},
): Promise<MatchedTasks> {
  const kind: ContentKind = hasInputs(before) && hasInputs(after) ? "inputs" : "prompts";
  const read = options.signal ? { signal: options.signal } : {};
  const contents = [await taskContents(before, kind, read), await taskContents(after, kind, read)] as const;
  const known = contents[0].size > 0 && contents[1].size > 0;
  const common = [...before.tasks.keys()].filter((task) => after.tasks.has(task));
  const agreeing = common.filter((task) => contents[0].get(task) === contents[1].get(task)).length;
  const inAfter = new Set(contents[1].values());
  const shared = new Set([...contents[0].values()].filter((content) => inAfter.has(content))).size;
  const by = options.by ?? (shared > agreeing ? "content" : "index");
  return {
    by,
    content: known ? kind : undefined,
    differentContent: by === "index" && known ? common.length - agreeing : 0,
    tasks: by === "index" ? byIndex(before, after) : byContent(before, after, contents),
  };
}

function byIndex(before: RunTasks, after: RunTasks): MatchedTask[] {
  const indices = new Set([...before.tasks.keys(), ...after.tasks.keys()]);
  return [...indices]
    .sort((left, right) => left - right)
    .map((task) => ({
      before: before.tasks.has(task) ? task : undefined,
      after: after.tasks.has(task) ? task : undefined,
    }));
}

/** Tasks of the same content within one run are one task: the first of them stands for all, with all their rewards. */
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
