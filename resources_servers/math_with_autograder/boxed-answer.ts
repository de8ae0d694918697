const OPENINGS = ["\\boxed", "\\fbox"] as const;

/** The content of the last `\boxed{…}`, or of the last `\fbox{…}` if there is no box; undefined if it is empty or not closed. */
export function boxedAnswer(text: string): string | undefined {
  const command = OPENINGS.find((opening) => text.includes(opening));
  if (command === undefined) return undefined;
  const start = text.lastIndexOf(command);
  const open = start + command.length;
  if (text[open] !== "{") return undefined;
  let depth = 0;
  for (let index = open; index < text.length; index++) {
    if (text[index] === "{") depth++;
    else if (text[index] === "}" && --depth === 0) return text.slice(open + 1, index) || undefined;
  }
  return undefined;
}
