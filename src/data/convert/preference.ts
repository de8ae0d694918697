import { pyEquals } from "../../base/python/door.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import { chatParts, isChat } from "./chat.ts";
import { Misfit } from "./fields.ts";

export interface PreferenceParts {
  readonly params: JsonObject;
  readonly chosen: string;
  readonly rejected: string;
}

/** A prompt with two answers: as texts, as conversations that begin alike, or as marked dialogues. */
export function preferenceParts(prompt: unknown, chosen: unknown, rejected: unknown): PreferenceParts {
  const messages = isChat(prompt)
    ? prompt
    : typeof prompt === "string"
      ? [{ role: "user", content: prompt }]
      : [];
  const [good, bad] = [
    conversation(messages, chosen, "chosen"),
    conversation(messages, rejected, "rejected"),
  ];
  const [before, other] = [good.slice(0, -1), bad.slice(0, -1)];
  if (!pyEquals(before, other)) throw new Misfit("chosen and rejected do not answer the same conversation");
  const { params, answer } = chatParts(good, undefined);
  const { answer: worse } = chatParts(bad, undefined);
  if (answer === undefined || worse === undefined) throw new Misfit("an answer has no text");
  if (answer === worse) throw new Misfit("chosen and rejected are equal");
  return { params, chosen: answer, rejected: worse };
}

function conversation(prompt: readonly JsonObject[], given: unknown, what: string): JsonObject[] {
  if (isChat(given)) {
    const isWhole = prompt.every((message, index) => pyEquals(message["content"], given[index]?.["content"]));
    const isAnswerOnly = given.length === 1;
    return isAnswerOnly || !isWhole ? [...prompt, ...given] : [...given];
  }
  if (typeof given !== "string") throw new Misfit(`${what} is neither a text nor a list of messages`);
  if (prompt.length > 0) return [...prompt, { role: "assistant", content: given }];
  return dialogue(given, what);
}

const SPEAKER = /\n\n(Human|Assistant):/;

/** `\n\nHuman: … \n\nAssistant: …` as messages. */
function dialogue(text: string, what: string): JsonObject[] {
  const [before, ...parts] = text.split(SPEAKER);
  if (before?.trim() !== "" || parts.length < 4)
    throw new Misfit(`there is no prompt, and ${what} is not a dialogue of Human and Assistant`);
  return Array.from({ length: parts.length / 2 }, (_, index) => ({
    role: parts[2 * index] === "Human" ? "user" : "assistant",
    content: (parts[2 * index + 1] ?? "").trim(),
  }));
}
