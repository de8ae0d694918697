import { mean } from "../metrics/descriptive.ts";
import type { BoardTask } from "./board.ts";

/**
 * The mean rewards of the tasks that two runs have in common. Tasks with the same index and content match; the index is ignored if more tasks
 * match without it, and the content if it is not known.
 */
export function commonMeans(
  before: readonly BoardTask[],
  after: readonly BoardTask[],
): [before: number, after: number][] {
  const isKnown = [before, after].every((tasks) => tasks.some(({ content }) => content !== undefined));
  const byIndex = new Map(before.map((task) => [task.index, task]));
  const sameIndex = after.flatMap((task): [BoardTask, BoardTask][] => {
    const other = byIndex.get(task.index);
    return other && (!isKnown || other.content === task.content) ? [[other, task]] : [];
  });
  if (isKnown && sameIndex.length < Math.min(before.length, after.length)) {
    const [first, second] = [rewardsByContent(before), rewardsByContent(after)];
    const shared = [...first.keys()].filter((content) => second.has(content));
    if (shared.length > sameIndex.length)
      return shared.map((content) => [mean(first.get(content) ?? []), mean(second.get(content) ?? [])]);
  }
  return sameIndex.map(([first, second]) => [mean(first.rewards), mean(second.rewards)]);
}

/** Tasks with the same content within one run are one task. */
function rewardsByContent(tasks: readonly BoardTask[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { content, rewards } of tasks) {
    if (content === undefined) continue;
    const known = found.get(content);
    if (known) known.push(...rewards);
    else found.set(content, [...rewards]);
  }
  return found;
}
