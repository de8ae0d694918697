const HEADING = /##\s*Equivalence\s*Judgement\s*\n\s*(TRUE|FALSE)/i;
const WORD = /\b(TRUE|FALSE)\b/gi;

/** The verdict under the first heading "Equivalence Judgement", else the last of the two words; null without either. */
export function readVerdict(text: string): "TRUE" | "FALSE" | null {
  const found = HEADING.exec(text)?.[1] ?? text.match(WORD)?.at(-1);
  if (found === undefined) return null;
  return found.toUpperCase() === "TRUE" ? "TRUE" : "FALSE";
}
