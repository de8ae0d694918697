import { useState } from "react";
import type { Elided, RowAnswer } from "../../api-types.ts";
import { api, type RunId } from "../shared/api-client.ts";
import { bytesText, countText } from "../shared/format.ts";
import { JsonTree } from "../text/json-tree.tsx";

const SHOWN = 50;

/** What was cut out of a large row; each value can be fetched. */
export function ElidedValues({ run, answer }: { run: RunId; answer: RowAnswer }) {
  if (answer.elided.length === 0) return null;
  return (
    <details className="elided">
      <summary>
        This row is {bytesText(answer.bytes)} long: {countText(answer.elided.length, "long value")}{" "}
        {answer.elided.length === 1 ? "is" : "are"} cut below
      </summary>
      <ul>
        {answer.elided.slice(0, SHOWN).map((value) => (
          <ElidedValue key={value.from} run={run} answer={answer} value={value} />
        ))}
      </ul>
      {answer.elided.length > SHOWN && <p className="dim">and {answer.elided.length - SHOWN} more</p>}
    </details>
  );
}

function ElidedValue({ run, answer, value }: { run: RunId; answer: RowAnswer; value: Elided }) {
  const [shown, setShown] = useState<{ value: unknown } | { error: string }>();
  const show = () =>
    void api.part(run, answer, value.from, value.to).then(
      (whole) => setShown({ value: whole }),
      (error: unknown) => setShown({ error: error instanceof Error ? error.message : String(error) }),
    );
  return (
    <li>
      <code>{value.path.join(".")}</code> {bytesText(value.to - value.from)}{" "}
      {shown === undefined ? (
        <button type="button" className="link" onClick={show}>
          show whole
        </button>
      ) : "error" in shown ? (
        <span className="problem">{shown.error}</span>
      ) : (
        <div className="json">
          <JsonTree value={shown.value} open />
        </div>
      )}
    </li>
  );
}
