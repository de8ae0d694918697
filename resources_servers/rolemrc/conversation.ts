import { textParts } from "nemo-gym/openai";
import { isObject, strip } from "nemo-gym/python";

const speakers: Readonly<Record<string, string>> = {
  system: "System Instruction",
  developer: "System Instruction",
  user: "User Query",
  assistant: "LLM Response",
};

/** The messages that the judge reads: those of the row, if it has its own, or the prompt. */
export function messagesOf(conversation: unknown, input: unknown): { role: string; text: string }[] {
  const messages = Array.isArray(conversation) && conversation.length > 0 ? conversation : input;
  if (typeof messages === "string") return [{ role: "user", text: messages }];
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message) =>
    isObject(message) && typeof message["role"] === "string"
      ? [{ role: message["role"], text: textParts(message["content"]).join("\n") }]
      : [],
  );
}

/** One line for each message, such as `User Query: "Who are you?"`. */
export function conversationText(messages: readonly { role: string; text: string }[]): string {
  return messages.map(({ role, text }) => `${speakers[role] ?? role}: "${text}"`).join("\n");
}

/** The second sentence of the system instruction, without words such as "You must" and one final dot. */
export function nestedInstruction(messages: readonly { role: string; text: string }[]): string {
  const system = messages.find(({ role }) => role === "system" || role === "developer")?.text ?? "";
  const sentence = system.split(". ")[1] ?? "";
  return strip(
    sentence
      .replace(/\b(?:you must|you should|you need to|please|your response should) /gi, "")
      .replace(/\.$/, ""),
  );
}
