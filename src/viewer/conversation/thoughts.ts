import type { ContentPart } from "./content-parts.ts";

/** A tag at the start of a line; a tag inside code or a sentence is part of the text. */
const OPENING = /^[ \t]*<think(?:ing)?>/im;
const CLOSING = /(?<!`)<\/think(?:ing)?>(?!`)/i;

/**
 * Splits `<think>…</think>` off the text of a message. Chat templates may open the tag, so a text that only closes it
 * begins with reasoning. Reasoning without a closing tag was truncated.
 */
export function splitThoughts(part: ContentPart): ContentPart[] {
  if (part.type !== "text") return [part];
  const parts: ContentPart[] = [];
  let rest = part.text;
  const push = (type: "text" | "thought", text: string) => {
    if (text.trim() !== "") parts.push({ type, text: text.trim() });
  };
  for (;;) {
    const opening = OPENING.exec(rest);
    const closing = CLOSING.exec(rest);
    if (closing !== null && (opening === null || closing.index < opening.index)) {
      // Only the first tag can have been opened by the template, and then the text does not open it.
      if (rest !== part.text || /<think/i.test(rest.slice(0, closing.index))) break;
      push("thought", rest.slice(0, closing.index));
      rest = rest.slice(closing.index + closing[0].length);
      continue;
    }
    if (opening === null) break;
    push("text", rest.slice(0, opening.index));
    const inside = rest.slice(opening.index + opening[0].length);
    const end = CLOSING.exec(inside);
    push("thought", end === null ? inside : inside.slice(0, end.index));
    rest = end === null ? "" : inside.slice(end.index + end[0].length);
  }
  // A text without tags keeps its whitespace.
  if (rest === part.text) return [part];
  push("text", rest);
  return parts;
}
