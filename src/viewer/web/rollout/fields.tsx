import { useState } from "react";
import { type JsonObject, orderedKeys } from "../../../base/python/json/door.ts";
import { prettyJson } from "../../conversation/content-parts.ts";
import type { Verdict } from "../../conversation/verdict.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import { visibleText } from "../text/controls.ts";
import { useHoldsMatch } from "../text/holds-match.ts";
import { JsonBlock } from "../text/json-tree.tsx";
import { Isolated } from "../text/plain.tsx";

const MAX_PREVIEW = 100;

/** Every field of the row, as in the file. */
export function RowFields({ row, verdict }: { row: JsonObject; verdict: Verdict }) {
  const own = new Set(verdict.others.map(({ name }) => name));
  const names = orderedKeys(row).sort((a, b) => Number(own.has(b)) - Number(own.has(a)));
  return (
    <section className="fields" aria-label="Fields of the row">
      <h2>Fields and raw data</h2>
      {names.map((name) => (
        <Field key={name} name={name} value={row[name]} />
      ))}
    </section>
  );
}

function Field({ name, value }: { name: string; value: unknown }) {
  const [open, setOpen] = useState(false);
  const holdsMatch = useHoldsMatch(open ? undefined : value);
  return (
    <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary {...holdsMatch}>
        <Isolated className="field-name" text={name} />
        {!open && <Isolated className="preview dim" text={previewOf(value)} />}
      </summary>
      {open && (
        <div className="field-body">
          <CopyButton text={() => prettyJson(value)} label={`Copy ${visibleText(name.slice(0, 50))}`} />
          <JsonBlock value={value} />
        </div>
      )}
    </details>
  );
}

function previewOf(value: unknown): string {
  if (typeof value === "string") return oneLine(value.slice(0, MAX_PREVIEW * 2));
  if (Array.isArray(value)) return `[${value.length}]`;
  if (value !== null && typeof value === "object" && Object.keys(value).length > 4)
    return `{${Object.keys(value).slice(0, 6).join(", ")}, …}`;
  const text = prettyJson(value);
  return text.length > 2000 ? "{…}" : oneLine(text);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > MAX_PREVIEW ? `${line.slice(0, MAX_PREVIEW)}…` : line;
}
