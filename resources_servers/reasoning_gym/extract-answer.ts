import { strip } from "nemo-gym/python";

const OPENING = "<answer>";
const CLOSING = "</answer>";
const BOX = "\\boxed{";

/** The model's answer: the last `<answer>…</answer>`, else the first non-empty `\boxed{…}`, else the whole text; stripped. */
export function extractAnswer(text: string): string {
  return strip(lastTagged(text) ?? firstBoxed(text) ?? text);
}

function lastTagged(text: string): string | undefined {
  let found: string | undefined;
  for (let from = 0; ; ) {
    const start = text.indexOf(OPENING, from);
    const end = start === -1 ? -1 : text.indexOf(CLOSING, start + OPENING.length);
    if (end === -1) return found;
    found = text.slice(start + OPENING.length, end);
    from = end + CLOSING.length;
  }
}

function firstBoxed(text: string): string | undefined {
  for (let start = text.indexOf(BOX); start !== -1; start = text.indexOf(BOX, start + 1)) {
    const end = text.indexOf("}", start);
    if (end === -1) return undefined;
    if (end > start + BOX.length) return text.slice(start + BOX.length, end);
  }
  return undefined;
}
