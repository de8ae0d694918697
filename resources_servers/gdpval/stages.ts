import { pyRepr } from "nemo-gym/python";
import { randomFor } from "./panel.ts";

/*
 * A comparison in stages first uses all references and then those whose strength is nearest to that of the model. These
 * functions choose `reference_ids` for the rows of a stage; the metrics read `stage_index` of the results.
 */

/** The references nearest to a rating, in the order of their ids; all of them without a rating. */
export function selectReferences(
  elos: Readonly<Record<string, number>>,
  rating: number | null,
  count: number,
): string[] {
  const ids = Object.keys(elos).sort();
  if (rating === null) return ids;
  const distance = (id: string) => Math.abs((elos[id] ?? 0) - rating);
  // The sort is stable: of two that are equally near, the first id wins.
  return ids
    .toSorted((left, right) => distance(left) - distance(right))
    .slice(0, count)
    .sort();
}

/** One reference for each task, the same for the same seeds. */
export function assignReferences(
  taskIds: readonly string[],
  referenceIds: readonly string[],
  { seed, stageSeed, stage }: { seed: number | null; stageSeed: number | null; stage: number },
): Record<string, string> {
  if (referenceIds.length === 0) return {};
  const random = randomFor(seed, [pyRepr(stageSeed), String(stage)]);
  return Object.fromEntries(taskIds.map((id) => [id, referenceIds[random.below(referenceIds.length)] ?? ""]));
}

/** The tasks of all groups of a distribution, each once. */
export function allTaskIds(
  distribution: Readonly<Record<string, { task_ids?: readonly unknown[] }>>,
): string[] {
  return [...new Set(Object.values(distribution).flatMap(({ task_ids: ids = [] }) => ids.map(String)))];
}
