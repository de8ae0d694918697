import { isObject } from "../../python/json/json-object.ts";
import type { ChatCompletion } from "../schemas/chat-types.ts";
import { badValue, unsupported } from "./conversion-loss.ts";
import { wrapInThinkTags } from "./think-tags.ts";
import type { VllmSettings } from "./vllm-request.ts";

const TEXT_KEYS = ["text", "thinking", "content", "summary"] as const;
const DEEPEST = 4;

/** Writes the engine's separate reasoning field into the content as a think block, where the converter looks for it. */
export function mergeReasoning(
  completion: ChatCompletion,
  { uses_reasoning_parser = true }: Pick<VllmSettings, "uses_reasoning_parser">,
): ChatCompletion {
  const [choice, ...others] = completion.choices;
  if (choice === undefined) badValue("the completion has no choices");
  const { reasoning_content, reasoning, ...message } = choice.message;
  const { content } = message;
  const apart = reasoningText(reasoning_content || reasoning || "");
  // Reasoning without text cannot be merged. It stays, and the converter reports it.
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

/** Mistral's models put their thoughts between the parts of the content. */
function thinkingParts(content: unknown): string[] {
  const parts = Array.isArray(content) ? content : [];
  return parts
    .filter((part) => isObject(part) && part["type"] === "thinking")
    .map((part) => reasoningText(part) ?? "");
}

/** Whether an engine's error means that the prompt does not fit its context. */
export function isContextOverflow(status: number, body: string): boolean {
  return status === 400 && (body.includes("context length") || body.includes("max_tokens"));
}

/** The answer to a prompt that does not fit: an empty, truncated completion. */
export function contextOverflowCompletion(
  model: string,
  now = Math.floor(Date.now() / 1000),
): ChatCompletion {
  return emptyCompletion(model, "length", now);
}

/** The answer to a history of thoughts only, where the engine may not be asked to think on. */
export function bareReasoningCompletion(model: string, now = Math.floor(Date.now() / 1000)): ChatCompletion {
  return emptyCompletion(model, "content_filter", now);
}

function emptyCompletion(model: string, finish_reason: string, created: number): ChatCompletion {
  const message = { role: "assistant" as const, content: null };
  return {
    id: "chtcmpl-123",
    object: "chat.completion",
    created,
    model,
    choices: [{ index: 0, finish_reason, message }],
  };
}

/**
 * The text of an engine's reasoning field: text, a part with text, or a list of these. Undefined if there is
 * no text.
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
