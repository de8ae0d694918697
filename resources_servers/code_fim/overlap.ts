/**
 * Removes the overlap between the end of one text and the beginning of the next. An overlap that consists of spaces only is
 * indentation and is kept.
 */
export function removeOverlap(
  preceding: string,
  following: string,
  truncateFrom: "preceding" | "following",
): string {
  for (let size = Math.min(preceding.length, following.length); size > 0; size--) {
    const overlap = following.slice(0, size);
    if (!preceding.endsWith(overlap) || /^ +$/.test(overlap)) continue;
    return truncateFrom === "following" ? following.slice(size) : preceding.slice(0, -size);
  }
  return truncateFrom === "following" ? following : preceding;
}

/** The missing part of a program, without the surrounding code that models tend to repeat. */
export function completionOf(code: string, prefix: string, suffix: string): string {
  const withoutNewline = code.startsWith("\n") ? code.slice(1) : code;
  const withoutPrefix = removeOverlap(prefix, withoutNewline, "following");
  return removeOverlap(withoutPrefix, suffix, "preceding");
}
