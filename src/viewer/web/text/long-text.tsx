import { type ReactNode, useState } from "react";
import { countLabel } from "../shared/format.ts";
import { useNextMatch } from "./holds-match.ts";

/** Longer texts are folded. */
const MAX_CHARACTERS = 6000;
const MAX_LINES = 80;
/** Characters that one click adds to the page, so that the browser stays responsive. */
const MAX_SHOWN = 300_000;
/** The longest word that a browser breaks quickly; longer ones get explicit break points. */
const LONGEST_WORD = 2000;

/** A text that is folded when it is long; `render` shows a piece of it. */
export function LongText({ text, render }: { text: string; render: (text: string) => ReactNode }) {
  const [shownTo, setShownTo] = useState(0);
  const beginning = beginningOf(text);
  const folded = beginning.length < text.length;
  const shown = shownTo === 0 ? beginning : text.slice(0, shownTo);
  const match = useNextMatch(folded ? text : undefined, shown.length);
  const holdsMatch = match !== undefined && { "data-holds-match": true };
  // A match is shown immediately, regardless of its position.
  const showMore = () => setShownTo(Math.max(shownTo + MAX_SHOWN, (match ?? 0) + MAX_CHARACTERS));
  return (
    <>
      {render(brokenWords(shown))}
      {folded && (
        <button
          type="button"
          className="quiet fold"
          aria-expanded={shownTo > 0}
          {...(shownTo === 0 && holdsMatch)}
          onClick={() => (shownTo > 0 ? setShownTo(0) : showMore())}
        >
          {shownTo > 0 ? "Show less" : `Show all ${countLabel(text.length, "character")}`}
        </button>
      )}
      {shownTo > 0 && shownTo < text.length && (
        <button type="button" className="quiet fold" onClick={showMore} {...holdsMatch}>
          Show {countLabel(Math.min(MAX_SHOWN, text.length - shownTo), "character")} more
        </button>
      )}
    </>
  );
}

function beginningOf(text: string): string {
  const end = Math.min(text.length, MAX_CHARACTERS);
  let at = -1;
  for (let line = 0; line < MAX_LINES; line++) {
    at = text.indexOf("\n", at + 1);
    if (at === -1 || at >= end) return text.slice(0, end);
  }
  return text.slice(0, at);
}

/** Browsers take minutes to lay out a word of a million letters, so it gets break points. */
function brokenWords(text: string): string {
  return text.length < LONGEST_WORD ? text : text.replace(new RegExp(`\\S{${LONGEST_WORD}}`, "g"), "$&\n");
}
