import { strip } from "../python/whitespace.ts";

/** Removes every `<tag>…</tag>` pair, each up to the nearest closing tag; linear in the text. */
function removePairs(text: string, tag: string): string {
  const open = `<${tag}>`;
  const close = `</${tag}>`;
  let result = "";
  let from = 0;
  for (;;) {
    const start = text.indexOf(open, from);
    const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
    if (end < 0) return from === 0 ? text : result + text.slice(from);
    result += text.slice(from, start);
    from = end + close.length;
  }
}

function afterFirst(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? text : text.slice(at + mark.length);
}

/**
 * Removes the reasoning from a text: `<think>` and `<thinking>` pairs, then everything before a closing tag that
 * lost its opening one. The result is stripped.
 */
export function stripThinking(text: string): string {
  const pairless = removePairs(removePairs(text, "think"), "thinking");
  return strip(afterFirst(afterFirst(pairless, "</think>"), "</thinking>"));
}

/** The milder rule: only where `</think>` occurs, pairs are removed, or else everything up to it; stripped. */
export function stripThinkPairs(text: string): string {
  if (!text.includes("</think>")) return strip(text);
  const pairless = removePairs(text, "think");
  return strip(pairless === text ? afterFirst(text, "</think>") : pairless);
}
