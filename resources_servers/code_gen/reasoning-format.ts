import type { Response } from "nemo-gym/openai";

const TAGS = ["<think>", "</think>"];

/** Whether reasoning occurs in the answer, or a reasoning tag is opened or closed more than once. */
export function breaksReasoningFormat(response: Response, answer: string): boolean {
  if (TAGS.some((tag) => answer.includes(tag))) return true;
  const reasoning = response.output
    .flatMap((item) => (item.type === "reasoning" ? item.summary : []))
    .map(({ text }) => text)
    .join("");
  return TAGS.some((tag) => reasoning.split(tag).length > 2);
}
