import { useState } from "react";
import { defaultMaxDepth } from "../../../python/json/json-loads.ts";
import type { Elided, RowAnswer } from "../../api-types.ts";
import { bytesText, countText } from "../shared/format.ts";
import { Plain } from "../text/plain.tsx";
import type { CutValues } from "./use-cut-values.ts";

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
        This row has {bytesText(answer.bytes)}. {countText(values.length, "long value")}{" "}
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
    load(value).catch((error: unknown) =>
      setState({ error: error instanceof Error ? error.message : String(error) }),
    );
  };
  return (
    <li>
      <code>
        <Plain text={value.path.join(".")} />
      </code>{" "}
      {bytesText(value.to - value.from)}{" "}
      {state === undefined || state === "loading" ? (
        <button
          type="button"
          className="link"
          disabled={state === "loading"}
          onClick={onClick}
          // Only the whole value can show whether it contains a match.
          {...(value.kind !== "numbers" && { "data-may-hold-match": true })}
        >
          {state === "loading" ? "Loading…" : "Load"}
        </button>
      ) : (
        <span className="problem">{state.error}</span>
      )}
    </li>
  );
}
