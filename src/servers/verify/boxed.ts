/** Answers in `\boxed{…}`, found in one pass over the text. */
import { strip } from "../../base/python/door.ts";

const marker = "\\boxed{";
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The content of the last `\boxed{…}`; undefined if the text has none or if the last one is not closed. */
export function lastBoxed(text: string): string | undefined {
  const start = text.lastIndexOf(marker);
  if (start < 0) return undefined;
  let depth = 1;
  for (let index = start + marker.length; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === openBrace) depth++;
    else if (code === closeBrace && --depth === 0) return text.slice(start + marker.length, index);
  }
  return undefined;
}

/** The content of the last `\boxed{…}` that is closed. */
export function lastClosedBoxed(text: string): string | undefined {
  const open: number[] = [];
  let best: { start: number; end: number } | undefined;
  for (let index = text.indexOf(marker); index >= 0 && index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === openBrace) open.push(text.startsWith(marker, index - marker.length + 1) ? index + 1 : -1);
    else if (code === closeBrace) {
      const start = open.pop() ?? -1;
      if (start >= 0 && (best === undefined || start > best.start)) best = { start, end: index };
    }
  }
  return best && text.slice(best.start, best.end);
}

const textCommand = "\\text{";

/** Removes every `\text{…}` that encloses the whole string. */
export function unwrapText(text: string): string {
  let inner = text;
  while (inner.startsWith(textCommand) && inner.endsWith("}")) {
    inner = strip(inner.slice(textCommand.length, -1));
  }
  return inner;
}
