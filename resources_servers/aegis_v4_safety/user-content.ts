import { isObject, strip } from "nemo-gym/python";

/** The reason why the classifier cannot be asked. */
export class Unresolved extends Error {}

/** The last user message as the classifier reads it: a text, or one image followed by the text. */
export function userContent(input: unknown): unknown {
  if (typeof input === "string") return required(strip(input), "task input is empty");
  const message = Array.isArray(input)
    ? input.findLast((item: unknown) => isObject(item) && item["role"] === "user")
    : undefined;
  if (!isObject(message)) throw new Unresolved("task input has no user message");
  const { content } = message;
  if (typeof content === "string") return required(strip(content), "last user message is empty");
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  if (parts.length === 0) throw new Unresolved("last user message is empty");
  const other = parts.find(({ type }) => type !== "input_text" && type !== "input_image");
  if (other)
    throw new Unresolved(`last user message has an unsupported content part: ${String(other["type"])}`);
  const images = parts.filter(({ type }) => type === "input_image");
  if (images.length > 1) throw new Unresolved("Aegis v4 supports at most one image per request");
  const texts = parts.map(({ text }) => (typeof text === "string" ? strip(text) : ""));
  const text = required(
    texts.filter((each) => each !== "").join("\n"),
    "last user message has no text prompt",
  );
  return images.length === 0 ? text : [images[0], { type: "input_text", text }];
}

function required(text: string, reason: string): string {
  if (text === "") throw new Unresolved(reason);
  return text;
}
