const FENCE = "```";

/** The lines between the last two fence lines; empty if there are fewer than two. */
export function extractCode(text: string): string {
  const lines = text.split("\n");
  const fences = lines.flatMap((line, index) => (line.includes(FENCE) ? [index] : []));
  const [open, close] = fences.slice(-2);
  if (open === undefined || close === undefined) return "";
  return lines.slice(open + 1, close).join("\n");
}
