import { useCallback, useState } from "react";
import { errorMessage } from "../../../base/errors.ts";
import { defaultMaxDepth } from "../../../base/python/json/door.ts";
import type { Elided, RowAnswer } from "../../api-types.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { bytesText, countLabel } from "../shared/format.ts";
import { Plain } from "../text/plain.tsx";

const SHOWN = 50;

/** Says that a row is nested deeper than the reader of the page goes. */
export function TooDeep({ fields }: { fields: readonly string[] }) {
  if (fields.length === 0) return null;
  const verb = fields.length === 1 ? "is" : "are";
  return (
    <p className="notice">
      <Plain text={fields.join(", ")} /> {verb} nested deeper than {defaultMaxDepth.toLocaleString("en")}{" "}
      levels. The deeper values are shown as null. The file still contains them.
    </p>
  );
}

/** The truncated values of a large row; each can be loaded. */
export function ElidedValues({ answer, cut }: { answer: RowAnswer; cut: CutValues }) {
  const { values } = cut;
  if (values.length === 0) return null;
  return (
    <details className="elided">
      <summary>
        This row has {bytesText(answer.bytes)}. {countLabel(values.length, "long value")}{" "}
        {values.length === 1 ? "is" : "are"} cut.
      </summary>
      <ul>
        {values.slice(0, SHOWN).map((value) => (
          <ElidedValue key={value.from} value={value} load={cut.load} />
        ))}
      </ul>
      {values.length > SHOWN && <p className="dim">and {values.length - SHOWN} more</p>}
    </details>
  );
}

function ElidedValue({ value, load }: { value: Elided; load: CutValues["load"] }) {
  const [state, setState] = useState<"loading" | { error: string }>();
  const onClick = () => {
    setState("loading");
    load(value).catch((error: unknown) => setState({ error: errorMessage(error) }));
  };
  return (
    <li>
      <code>
        <Plain text={value.path.join(".")} />
      </code>{" "}
      {bytesText(value.to - value.from)}{" "}
      {state === undefined || state === "loading" ? (
        <button type="button" className="link" disabled={state === "loading"} onClick={onClick}>
          {state === "loading" ? "Loading…" : "Load"}
        </button>
      ) : (
        <span className="problem">{state.error}</span>
      )}
    </li>
  );
}

/** Marks texts of an item that are cut, and loads them. */
export function CutTexts({ path, cut }: { path: readonly (string | number)[]; cut: CutValues }) {
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<string>();
  const own = cut.values.filter((value) => value.kind !== "numbers" && isUnder(value, path));
  if (own.length === 0) return null;
  const load = async () => {
    setLoading(true);
    try {
      for (const value of own) await cut.load(value);
    } catch (problem) {
      setError(errorMessage(problem));
    }
    setLoading(false);
  };
  const bytes = own.reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <p className="cut-text">
      …{" "}
      <button type="button" className="link" disabled={isLoading} onClick={() => void load()}>
        {isLoading ? "Loading…" : `Cut here. Load all ${bytesText(bytes)}`}
      </button>
      {error !== undefined && <span className="problem"> {error}</span>}
    </p>
  );
}

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
