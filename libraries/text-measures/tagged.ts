/** Removes each part from an opening mark to the nearest closing mark, both in any case, in linear time. */
export function removeTagged(text: string, open: string, close: string): string {
  let kept = "";
  let from = 0;
  let start: number | undefined;
  for (const match of text.matchAll(new RegExp(`(${escapePattern(open)})|${escapePattern(close)}`, "gi"))) {
    if (match[1] !== undefined) start ??= match.index;
    else if (start !== undefined) {
      kept += text.slice(from, start);
      from = match.index + match[0].length;
      start = undefined;
    }
  }
  return kept + text.slice(from);
}

/** The text as a pattern that matches it literally. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
