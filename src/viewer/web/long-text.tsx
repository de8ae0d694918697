import { useState } from "react";
import { countText } from "./format.ts";

/** More than this is folded. */
const MAX_CHARACTERS = 4000;
const MAX_LINES = 60;
/** Most characters put into the page at once; the browser stays quick. */
const MAX_SHOWN = 2_000_000;

/** Text with its own line breaks; a long one shows its beginning until it is asked for. */
export function LongText({ text, code = false }: { text: string; code?: boolean }) {
  const [open, setOpen] = useState(false);
  const beginning = beginningOf(text);
  const folded = beginning.length < text.length;
  const shown = open ? text.slice(0, MAX_SHOWN) : beginning;
  return (
    <>
      <pre className={code ? "text code" : "text"}>{shown}</pre>
      {folded && (
        <button type="button" className="quiet fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Show less" : `Show all ${countText(text.length, "character")}`}
        </button>
      )}
      {open && text.length > MAX_SHOWN && (
        <p className="note">The rest is left out here; copy it as JSON to see it whole.</p>
      )}
    </>
  );
}

function beginningOf(text: string): string {
  let end = Math.min(text.length, MAX_CHARACTERS);
  let at = -1;
  for (let line = 0; line < MAX_LINES; line++) {
    at = text.indexOf("\n", at + 1);
    if (at === -1 || at >= end) return text.slice(0, end);
  }
  end = at;
  return text.slice(0, end);
}
