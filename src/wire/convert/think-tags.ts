const OPEN = "<think>";
const CLOSE = "</think>";

/** A text, split into its think blocks and the rest. */
export interface ThinkParts {
  /** The texts of the think blocks, including empty ones. */
  reasoning: string[];
  /** The text outside the blocks, unchanged. */
  content: string;
}

/** Removes all closed think blocks from a text. An unclosed `<think>` and a lone `</think>` are text. */
export function parseThinkTags(text: string): ThinkParts {
  const reasoning: string[] = [];
  let content = "";
  let position = 0;
  for (;;) {
    const open = text.indexOf(OPEN, position);
    const close = open === -1 ? -1 : text.indexOf(CLOSE, open + OPEN.length);
    if (close === -1) break;
    reasoning.push(text.slice(open + OPEN.length, close));
    content += text.slice(position, open);
    position = close + CLOSE.length;
  }
  return { reasoning, content: position === 0 ? text : content + text.slice(position) };
}

/** Writes each non-empty text as a think block. */
export function wrapInThinkTags(texts: readonly string[]): string {
  let wrapped = "";
  for (const text of texts) if (text !== "") wrapped += OPEN + text + CLOSE;
  return wrapped;
}
