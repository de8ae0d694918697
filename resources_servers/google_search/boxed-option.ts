import type { HasOutput } from "nemo-gym/openai";
import { pyRepr } from "nemo-gym/python";

type Part = Readonly<Record<string, unknown>>;

/**
 * The content of the first `\boxed{…}` of the last message, up to the first closing brace; null if there is no box.
 *
 * The original searches the printed form of the message parts. There, backslashes and line breaks are escaped, and a box can
 * even extend into the next part. Datasets were filtered with this behaviour, so it is kept.
 */
export function boxedOption(response: HasOutput): string | null {
  const last = response.output.at(-1);
  if (last?.type !== "message" || (last.role ?? "assistant") !== "assistant") return null;
  const { content } = last;
  const printed = Array.isArray(content)
    ? `[${content.map((part) => printPart({ ...part })).join(", ")}]`
    : pyRepr(content);
  return firstBox(printed);
}

const OPENING = "\\boxed{";

function firstBox(text: string): string | null {
  const start = text.indexOf(OPENING);
  if (start === -1) return null;
  const end = text.indexOf("}", start);
  // The printed form has no line breaks that could separate them.
  return end === -1 ? null : text.slice(start + OPENING.length, end);
}

function printPart(part: Part): string {
  if (part["type"] === "refusal") {
    return `NeMoGymResponseOutputRefusal(refusal=${pyRepr(part["refusal"])}, type='refusal')`;
  }
  const { annotations, text, type, logprobs } = part;
  return `NeMoGymResponseOutputText(annotations=${pyRepr(annotations)}, text=${pyRepr(text)}, type=${pyRepr(type)}, logprobs=${pyRepr(logprobs)})`;
}
