/** How a text that is too long for a judge's context is cut. */
export interface TruncationPolicy {
  /** Longest text, in UTF-16 units, the note about the cut not counted; null: never cut. */
  maxChars: number | null;
  /** Which part stays. `both` keeps the two ends: reasoning is long in the middle, answers stand at the end. */
  keep?: "start" | "end" | "both";
}

/** Cuts a text by the policy and says how much is missing; no surrogate pair is torn apart. */
export function truncateText(text: string, policy: TruncationPolicy): string {
  const { maxChars, keep = "both" } = policy;
  if (maxChars === null || text.length <= maxChars) return text;
  const headLength = keep === "start" ? maxChars : keep === "end" ? 0 : Math.floor(maxChars / 2);
  const tailLength = maxChars - headLength;
  const headEnd = isPairAt(text, headLength) ? headLength - 1 : headLength;
  const tailStart = isPairAt(text, text.length - tailLength)
    ? text.length - tailLength + 1
    : text.length - tailLength;
  const note = `[${tailStart - headEnd} characters omitted]`;
  const parts = [text.slice(0, headEnd), note, text.slice(tailStart)];
  return parts.filter((part) => part !== "").join("\n");
}

function isPairAt(text: string, index: number): boolean {
  return index > 0 && index < text.length && (text.codePointAt(index - 1) ?? 0) > 0xffff;
}
