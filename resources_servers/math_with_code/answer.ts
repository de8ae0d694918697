import type { JsonObject } from "nemo-gym";
import { outputText, type Response } from "nemo-gym/openai";
import { parsePyFloat, splitWords, strip } from "nemo-gym/python";
import { lastBoxed } from "nemo-gym/verify";

const TOLERANCE = 1e-6;

/** The answer of a rollout: the box of the last message that has one, else the box in the last output of the tool. */
export function findAnswer({ output }: Response): string | null {
  for (const item of output.toReversed()) {
    if (item.type !== "message" || (item.role ?? "assistant") !== "assistant") continue;
    const boxed = boxedIn(outputText({ output: [item] }));
    if (boxed !== null) return boxed;
  }
  for (const item of output.toReversed()) {
    if (item.type !== "function_call_output" || typeof item.output !== "string") continue;
    const boxed = boxedIn(printedOf(item.output));
    if (boxed !== null) return boxed;
  }
  return null;
}

/** The content of the last box; null if there is none, or it is empty or not closed. */
function boxedIn(text: string): string | null {
  return strip(lastBoxed(text) ?? "") || null;
}

/** The output of a tool; a reply in another format is used unchanged. */
function printedOf(reply: string): string {
  try {
    const value: unknown = JSON.parse(reply);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return reply;
    const { stdout = "" } = value as JsonObject;
    return typeof stdout === "string" ? stdout : "";
  } catch {
    // Not JSON.
    return reply;
  }
}

/** Whether two answers are equal: as texts without their wrapping, or as numbers. */
export function sameAnswer(given: string, expected: string): boolean {
  const [one, two] = [unwrapped(given), unwrapped(expected)];
  if (one === two) return true;
  const [value, wanted] = [parsePyFloat(one), parsePyFloat(two)];
  if (value === undefined || wanted === undefined) return false;
  return Math.abs(value - wanted) <= TOLERANCE * Math.max(1, Math.abs(wanted));
}

const WRAPPINGS = [
  ["\\(", "\\)"],
  ["$", "$"],
  ["\\text{", "}"],
] as const;

function unwrapped(answer: string): string {
  let text = strip(answer);
  for (const [open, close] of WRAPPINGS) {
    const wraps = text.length >= open.length + close.length && text.startsWith(open) && text.endsWith(close);
    if (wraps) text = strip(text.slice(open.length, text.length - close.length));
  }
  return splitWords(text).join(" ");
}
