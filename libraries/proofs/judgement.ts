import { lstrip, strip } from "nemo-gym/python";

const LABEL = /\*{0,2}Judgement\*{0,2}\s*:/i;

/** The first `Judgement: Yes` or `Judgement: No` of a text, also with Markdown; null without one. */
export function readJudgement(text: string): "Yes" | "No" | null {
  const label = LABEL.exec(text);
  if (!label) return null;
  const verdict = strip(lstrip(strip(text.slice(label.index + label[0].length)), "*")).toLowerCase();
  if (verdict.startsWith("yes")) return "Yes";
  return verdict.startsWith("no") ? "No" : null;
}
