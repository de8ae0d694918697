import { outputText, type Response } from "nemo-gym/openai";
import { parsePyFloat } from "nemo-gym/python";

const THINK_END = "</think>";

/** What follows the last `</think>`; null if `assertThinkEnd` and there is none. */
export function finalAnswer(response: Pick<Response, "output">, assertThinkEnd: boolean): string | null {
  const text = outputText(response);
  const end = text.lastIndexOf(THINK_END);
  if (end >= 0) return text.slice(end + THINK_END.length);
  return assertThinkEnd ? null : text;
}

const SCORES = [0, 0.5, 1];

/** The score in the last `\boxed{…}`, up to the next brace: 0, 0.5 or 1; else null. */
export function boxedScore(text: string): number | null {
  const open = "\\boxed{";
  const start = text.lastIndexOf(open);
  const end = start < 0 ? -1 : text.indexOf("}", start);
  if (end < 0) return null;
  const score = parsePyFloat(text.slice(start + open.length, end)) ?? Number.NaN;
  return SCORES.includes(score) ? score : null;
}
