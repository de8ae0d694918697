import { useCallback, useEffect, useRef, useState } from "react";
import type { ListedRow, RowRef } from "../../api-types.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { type View, viewOfRow } from "../shared/route.ts";
import { useLoaded } from "../shared/use-loaded.ts";
import type { Go } from "../shared/use-route.ts";
import type { ListRequest, RowList } from "../shared/use-rows.ts";

export interface Selection {
  ref: RowRef | undefined;
  /** Its position in the list; undefined if it does not match the query. */
  position: number | undefined;
  /** Why no row is shown. */
  error: string | undefined;
  select: (row: ListedRow, position: number) => void;
  /** Moves by this many positions in the list. */
  move: (by: number) => Promise<void>;
}

/** The shown row and its position in the list. */
export function useSelection(
  run: RunId,
  view: View,
  request: ListRequest,
  list: RowList,
  file: { version: string; generation: number },
  go: Go,
): Selection {
  const known = useRef(new Map<string, RowRef>());
  const name = view.name === "rollout" ? `${run}:${view.task}:${view.rollout}:${file.generation}` : undefined;
  const knownRef = name === undefined ? undefined : known.current.get(name);
  const found = useLoaded(
    name === undefined || knownRef ? undefined : `${name}:${file.version}`,
    async (signal) => {
      if (view.name !== "rollout") return undefined;
      const q = `task=${view.task} repeat=${view.rollout}`;
      const { rows } = await api.rollouts(run, { q, limit: 100 }, signal);
      const row = rows.find(({ addressed }) => addressed) ?? rows.at(-1);
      if (row && name) known.current.set(name, { source: row.source, line: row.line });
      return row;
    },
  );
  const ref = useStableRef(
    view.name === "row"
      ? view.ref
      : view.name === "rollout"
        ? (knownRef ?? foundFor(name, found))
        : undefined,
  );

  const [position, setPosition] = useState<number>();
  const latest = useRef<number | undefined>(undefined);
  const place = useCallback((next: number | undefined) => {
    latest.current = next;
    setPosition(next);
  }, []);
  const wanted = ref && `${ref.source}:${ref.line}`;
  const key = JSON.stringify([wanted, request, file.version]);
  const located = useLoaded(
    wanted && key,
    async (signal) =>
      (await api.rollouts(run, { ...request, limit: 0, locate: wanted }, signal)).located ?? undefined,
  );
  useEffect(() => {
    if (located.key === key) place(located.value);
  }, [located.key, key, located.value, place]);

  const select = (row: ListedRow, at: number) => {
    const next = viewOfRow(row);
    if (next.name === "rollout")
      known.current.set(`${run}:${next.task}:${next.rollout}:${file.generation}`, {
        source: row.source,
        line: row.line,
      });
    place(at);
    go({ view: next });
  };
  const move = async (by: number) => {
    const target = Math.max(0, Math.min(list.total - 1, (latest.current ?? -1) + by));
    latest.current = target;
    const row = await list.load(target);
    if (row && latest.current === target) select(row, target);
  };
  const missing =
    view.name === "rollout" && ref === undefined && found.key !== undefined && found.value === undefined;
  return {
    ref,
    position: ref === undefined ? undefined : position,
    error: missing ? `Task ${view.task} has no rollout ${view.rollout} so far.` : found.error,
    select,
    move,
  };
}

function foundFor(
  name: string | undefined,
  found: { key: string | undefined; value: ListedRow | undefined },
) {
  return name !== undefined && found.key?.startsWith(`${name}:`) ? found.value : undefined;
}

/** The same object while it refers to the same row. */
function useStableRef(ref: RowRef | undefined): RowRef | undefined {
  const last = useRef<RowRef | undefined>(undefined);
  if (ref?.source !== last.current?.source || ref?.line !== last.current?.line)
    last.current = ref && { source: ref.source, line: ref.line };
  return last.current;
}
