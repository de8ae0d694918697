import { closingBrace } from "./tokens.ts";

interface Box {
  readonly start: number;
  readonly end: number;
  readonly content: string;
}

const OPENING = /\\(?:boxed|fbox)\s*/g;
/** Boxes nearer than this belong together. */
const NEAR = 10;
/** Boxes up to this far apart belong together when a word or mark joins them. */
const JOINED = 70;

/** What stands in the boxes of a text: all of them, or only the last group of boxes that belong together; undefined without a box. */
export function boxedContent(text: string, which: "all" | "last group"): string | undefined {
  const boxes = findBoxes(text);
  const last = boxes.at(-1);
  if (last === undefined) return undefined;
  const group = [last];
  for (let index = boxes.length - 2; index >= 0; index--) {
    const [box, next] = [boxes[index], boxes[index + 1]];
    if (!box || !next || (which === "last group" && !belongTogether(box, next, text))) break;
    group.unshift(box);
  }
  return [...new Set(group.map(({ content }) => boxedContent(content, "all") ?? content))].join(",");
}

function belongTogether(box: Box, next: Box, text: string): boolean {
  const between = text.slice(box.end, next.start);
  if (between.length < NEAR) return true;
  return between.length < JOINED && box.content !== next.content && /[,;]|and|or/.test(between);
}

/** Boxes that do not stand inside another. A box whose brace is not closed holds the rest of the text. */
function findBoxes(text: string): Box[] {
  const boxes: Box[] = [];
  OPENING.lastIndex = 0;
  for (let match = OPENING.exec(text); match; match = OPENING.exec(text)) {
    const open = OPENING.lastIndex;
    const close = text[open] === "{" ? closingBrace(text, open) : -1;
    const end = close === -1 ? text.length : close + 1;
    boxes.push({ start: match.index, end, content: text.slice(close === -1 ? open : open + 1, close === -1 ? end : close) });
    OPENING.lastIndex = end;
  }
  return boxes;
}
