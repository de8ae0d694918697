import { useCallback, useState } from "react";
import type { Elided, RowAnswer } from "../../api-types.ts";
import { api, type RunId } from "../shared/api-client.ts";

/** The truncated values of a large row, and how to load them. */
export interface CutValues {
  values: readonly Elided[];
  /** Loads a value and inserts it into the row. */
  load: (value: Elided) => Promise<void>;
  /** Changes with every inserted value. */
  version: number;
}

export function useCutValues(run: RunId, answer: RowAnswer): CutValues {
  const [loaded, setLoaded] = useState<{ answer: RowAnswer; values: ReadonlySet<Elided> }>();
  const known = loaded?.answer === answer ? loaded.values : undefined;
  const load = useCallback(
    async (value: Elided) => {
      // Changes the row in place, because a copy would lose the order of its keys.
      putAt(answer.row, value.path, await api.part(run, answer, value.from, value.to));
      setLoaded((before) => ({
        answer,
        values: new Set([...(before?.answer === answer ? before.values : []), value]),
      }));
    },
    [run, answer],
  );
  const values = known ? answer.elided.filter((value) => !known.has(value)) : answer.elided;
  return { values, load, version: known?.size ?? 0 };
}

function putAt(row: unknown, path: readonly (string | number)[], value: unknown): void {
  let parent = row;
  for (const key of path.slice(0, -1)) parent = (parent as Record<string | number, unknown>)[key];
  const key = path.at(-1);
  // A plain assignment to `__proto__` would change the prototype.
  if (key !== undefined)
    Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Whether a value is at a position of the row, or below it. */
export function isUnder({ path }: Elided, place: readonly (string | number)[]): boolean {
  return place.every((key, depth) => path[depth] === key);
}
