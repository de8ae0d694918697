import { isObject } from "../../base/python/json/door.ts";
import type { ChatCompletion } from "../schemas/chat-types.ts";
import { badValue, unsupported } from "./conversion-loss.ts";
import { wrapInThinkTags } from "./think-tags.ts";

const TEXT_KEYS = ["text", "thinking", "content", "summary"] as const;
const DEEPEST = 4;

/** Moves reasoning that the engine reports separately into the content, as think blocks for the converter. */
export function mergeReasoning(
  completion: ChatCompletion,
  { uses_reasoning_parser = true }: { uses_reasoning_parser?: boolean },
): ChatCompletion {
  const [choice, ...others] = completion.choices;
  if (choice === undefined) badValue("the completion has no choices");
  const { reasoning_content, reasoning, ...message } = choice.message;
  const { content } = message;
  const apart = reasoningText(reasoning_content || reasoning || "");
  // Reasoning without text cannot be moved. The converter reports it.
  if (apart === undefined) return completion;
  const thoughts = [apart, ...thinkingParts(content)].filter((thought) => thought !== "");
  if (thoughts.length === 0) return completion;
  if (!uses_reasoning_parser) {
    unsupported(
      "the engine reports reasoning apart although uses_reasoning_parser is false; turn its reasoning parser off or the setting on",
    );
  }
  const rest = Array.isArray(content)
    ? content.map((part) => (part.type === "text" ? part.text : "")).join("")
    : (content ?? "");
  const merged = { ...message, content: wrapInThinkTags(thoughts) + rest };
  return { ...completion, choices: [{ ...choice, message: merged }, ...others] };
}

/** Models of Mistral send reasoning as parts of the content. */
function thinkingParts(content: unknown): string[] {
  const parts = Array.isArray(content) ? content : [];
  return parts
    .filter((part) => isObject(part) && part["type"] === "thinking")
    .map((part) => reasoningText(part) ?? "");
}

/**
 * The text of the reasoning field of an engine, which is text, a part with text, or a list of these. Undefined without
 * text.
 */
function reasoningText(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") return value;
  if (depth === DEEPEST) return undefined;
  if (Array.isArray(value)) {
    const texts = value.map((part) => reasoningText(part, depth + 1));
    return texts.every((text) => text !== undefined) ? texts.join("") : undefined;
  }
  if (!isObject(value)) return undefined;
  const key = TEXT_KEYS.find((name) => value[name] != null);
  return key === undefined ? undefined : reasoningText(value[key], depth + 1);
}
