import type { Response } from "nemo-gym/openai";
import { isObject } from "nemo-gym/python";

export const errorModes = [
  "correct",
  "wrong_answer",
  "refusal",
  "early_termination",
  "malformed_choice",
  "format_violation",
] as const;

const refusalPhrase =
  /\bas an ai\b|\bi(?:'m| am) (?:sorry|unable|not able)\b|\bi (?:can(?:no|')t|can not|won't|will not|must decline)\b/i;

/** Why a response has no answer. */
export function errorMode(text: string, response: Response): (typeof errorModes)[number] {
  if (hasRefusal(response)) return "refusal";
  if (endedEarly(text, response)) return "early_termination";
  if (refusalPhrase.test(text)) return "refusal";
  return /<choice>/i.test(text) ? "malformed_choice" : "format_violation";
}

function hasRefusal({ output }: Response): boolean {
  return output.some(
    (item) =>
      item.type === "message" &&
      Array.isArray(item.content) &&
      item.content.some((part) => isObject(part) && part["type"] === "refusal"),
  );
}

function endedEarly(text: string, response: Response): boolean {
  if (response.status === "incomplete") return true;
  if (response.incomplete_details?.reason === "max_output_tokens") return true;
  return text.lastIndexOf("<think>") > text.lastIndexOf("</think>");
}
