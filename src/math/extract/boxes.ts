import { closingBrace } from "../parse/tokens.ts";

interface Box {
  readonly start: number;
  readonly end: number;
  readonly content: string;
}

const OPENING = /\\(?:boxed|fbox)\s{0,9}/g;
/** Boxes at a smaller distance belong together. */
const NEAR = 10;
/** Boxes at a smaller distance belong together if a word or a comma joins them. */
const JOINED = 70;
const MAX_NESTED = 20;
/** Of more boxes only the last ones count. */
const MAX_BOXES = 1000;

/** The content of all boxes of a text, or of the last group of boxes that belong together. Undefined without a box. */
export function boxedContent(text: string, which: "all" | "last group"): string | undefined {
  const boxes = findBoxes(text);
  const last = boxes.at(-1);
  if (last === undefined) return undefined;
  let first = boxes.length - 1;
  for (; first > 0; first--) {
    const [box, next] = [boxes[first - 1], boxes[first]];
    if (!box || !next || (which === "last group" && !belongTogether(box, next, text))) break;
  }
  return [...new Set(boxes.slice(first).map(({ content }) => innermost(content)))].join(",");
}

/** Replaces a box that contains boxes by those boxes. */
function innermost(content: string): string {
  let inner = content;
  for (let depth = 0; depth < MAX_NESTED && OPENING.test(inner); depth++) {
    OPENING.lastIndex = 0;
    inner = findBoxes(inner)
      .map((box) => box.content)
      .join(",");
  }
  OPENING.lastIndex = 0;
  return inner;
}

function belongTogether(box: Box, next: Box, text: string): boolean {
  const between = text.slice(box.end, next.start);
  if (between.length < NEAR) return true;
  return between.length < JOINED && box.content !== next.content && /[,;]|and|or/.test(between);
}

/** The outermost boxes. A box without a closing brace extends to the end of the text. */
function findBoxes(text: string): Box[] {
  const boxes: Box[] = [];
  OPENING.lastIndex = 0;
  for (let match = OPENING.exec(text); match; match = OPENING.exec(text)) {
    const open = OPENING.lastIndex;
    const close = text[open] === "{" ? closingBrace(text, open) : -1;
    const end = close === -1 ? text.length : close + 1;
    const content = close === -1 ? text.slice(open) : text.slice(open + 1, close);
    boxes.push({ start: match.index, end, content });
    if (boxes.length > 2 * MAX_BOXES) boxes.splice(0, MAX_BOXES);
    OPENING.lastIndex = end;
  }
  return boxes;
}
