import type { JsonObject } from "nemo-gym";
import {
  type ChatCompletion,
  type ChatCreateParams,
  type ChatMessage,
  ConversionError,
  type OnLoss,
  parseThinkTags,
} from "nemo-gym/openai";
import { isObject, JsonTextError, loadsPlain } from "nemo-gym/python";

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;
type UserPart = Exclude<Extract<ChatMessage, { role: "user" }>["content"], string | null | undefined>[number];

/** The settings of a vLLM-style backend that affect requests and answers, with the names of its config keys. */
export interface VllmSettings {
  model: string;
  return_token_id_information?: boolean;
  request_prompt_and_generation_token_ids?: boolean;
  uses_reasoning_parser?: boolean;
  uses_interleaved_reasoning?: boolean;
  preserve_reasoning_in_assistant_content?: boolean;
  replace_developer_role_with_system?: boolean;
  sequential_reasoning_allowed?: boolean;
  chat_template_kwargs?: JsonObject | null;
  extra_body?: JsonObject | null;
  sampling_overrides?: JsonObject | null;
}

/** A body for `/chat/completions` of a vLLM-style engine, which accepts more keys than the OpenAI API. */
export type VllmChatBody = JsonObject & { model: string; messages: ChatMessage[] };

/**
 * Builds the body for a vLLM-style engine. Precedence, highest first: `sampling_overrides`, the keys of the request,
 * `extra_body` in the metadata of the row, `extra_body` of the config.
 */
export function buildVllmChatBody(
  params: ChatCreateParams,
  settings: VllmSettings,
  onLoss?: OnLoss,
): VllmChatBody {
  const metadata = params.metadata ?? {};
  const { top_logprobs, ...request } = params;
  const body: VllmChatBody = {
    ...settings.extra_body,
    ...metadataObject(metadata, "extra_body"),
    ...request,
    ...(top_logprobs == null ? {} : { top_logprobs }),
    messages: params.messages.map((message, index) => outboundMessage(message, index, settings, onLoss)),
    model: settings.model,
  };
  const template = templateSettings(params, settings);
  if (Object.keys(template).length > 0) body["chat_template_kwargs"] = template;
  if (settings.return_token_id_information) {
    body["logprobs"] = true;
    body["top_logprobs"] = 0;
    body["return_tokens_as_token_ids"] = true;
    if (settings.request_prompt_and_generation_token_ids) body["return_token_ids"] = true;
  }
  Object.assign(body, settings.sampling_overrides);
  if (settings.return_token_id_information && body["n"] != null && body["n"] !== 1) {
    throw badValue("n must be 1 when token ids are returned");
  }
  return body;
}

/** The template settings. Precedence, highest first: the metadata of the row, the request, the config. */
export function templateSettings(
  params: ChatCreateParams,
  settings: Pick<VllmSettings, "chat_template_kwargs">,
): JsonObject {
  const { chat_template_kwargs: asked } = params as unknown as JsonObject;
  if (asked != null && !isObject(asked)) throw badValue("chat_template_kwargs must be a JSON object");
  return {
    ...settings.chat_template_kwargs,
    ...asked,
    ...metadataObject(params.metadata ?? {}, "chat_template_kwargs"),
  };
}

/** Reads engine settings from the metadata of a row. They are JSON text, because metadata values are strings. */
export function metadataObject(metadata: Record<string, string>, name: string): JsonObject {
  const text = metadata[name];
  if (!text) return {};
  let value: unknown;
  try {
    value = loadsPlain(text, { allowNonFinite: true });
  } catch (error) {
    if (error instanceof JsonTextError) throw badValue(`metadata.${name} is not JSON: ${error.message}`);
    throw error;
  }
  if (!isObject(value)) throw badValue(`metadata.${name} must hold a JSON object`);
  return value;
}

function outboundMessage(
  message: ChatMessage,
  index: number,
  settings: VllmSettings,
  onLoss?: OnLoss,
): ChatMessage {
  if (message.role === "developer" && settings.replace_developer_role_with_system) {
    return { ...message, role: "system" };
  }
  const { uses_reasoning_parser = true, preserve_reasoning_in_assistant_content: preserve = false } =
    settings;
  if (message.role !== "assistant" || !uses_reasoning_parser || preserve) return message;
  return withReasoningApart(message, index, settings, onLoss);
}

/** The chat template of the engine reads earlier reasoning from a separate field with one text, so only the first block is sent. */
function withReasoningApart(
  message: AssistantMessage,
  index: number,
  { uses_interleaved_reasoning: resend = true }: VllmSettings,
  onLoss?: OnLoss,
): AssistantMessage {
  let blocks: string[] = [];
  let lost = false;
  const cut = (text: string) => {
    const { reasoning, content } = parseThinkTags(text);
    lost ||= reasoning.length > 0 && blocks.length > 0;
    if (reasoning.length > 0) blocks = reasoning;
    return content;
  };
  const { content } = message;
  const rest = Array.isArray(content)
    ? content.map((part) => (part.type === "text" ? { ...part, text: cut(part.text) } : part))
    : typeof content === "string"
      ? cut(content)
      : content;
  const [first, ...others] = blocks;
  if (first === undefined) return message;
  if (lost || others.some((text) => text !== "")) {
    onLoss?.({ field: `messages.${index}.content`, reason: "only one think block is sent back" });
  }
  if (!resend) return { ...message, content: rest };
  return { ...message, content: rest, reasoning_content: first, reasoning: first };
}

const TOKENIZE_KEYS = [
  "model",
  "messages",
  "tools",
  "chat_template_kwargs",
  "mm_processor_kwargs",
  "required_prefix_token_ids",
] as const;

/** The body for `/tokenize` of the engine: all keys of the chat body that affect the prompt. */
export function tokenizeBody(body: VllmChatBody): JsonObject {
  const picked: JsonObject = {};
  for (const key of TOKENIZE_KEYS) if (body[key] !== undefined) picked[key] = body[key];
  return picked;
}

/** Whether the last message is an assistant turn without content and calls. */
export function endsInBareReasoning(messages: readonly ChatMessage[]): boolean {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || (last.tool_calls?.length ?? 0) > 0) return false;
  const { content } = last;
  return Array.isArray(content) ? content.length === 0 : !content;
}

const AUDIO_KEYS = ["audio_data", "audio_path", "audio_paths"] as const;

/** The audio of a row. */
export interface AudioOfRow {
  /** Data URIs, and paths that the server resolves. */
  sources: ({ kind: "data"; url: string } | { kind: "path"; path: string })[];
  /** The metadata without the audio keys; undefined if it has no other keys. */
  metadata: JsonObject | undefined;
}

/** Takes the audio from the metadata of a row. At most one of the three audio keys may be set. */
export function takeAudio(metadata: JsonObject | null | undefined): AudioOfRow {
  const given = AUDIO_KEYS.filter((key) => metadata?.[key]);
  const [key] = given;
  if (!isObject(metadata) || key === undefined) return { sources: [], metadata: metadata ?? undefined };
  if (given.length > 1) throw badValue(`metadata sets ${given.join(" and ")}; set one of them`);
  const { [key]: value, ...rest } = metadata;
  return { sources: sourcesOf(key, value), metadata: Object.keys(rest).length > 0 ? rest : undefined };
}

function sourcesOf(key: (typeof AUDIO_KEYS)[number], value: unknown): AudioOfRow["sources"] {
  if (key === "audio_paths") {
    // Metadata values are strings, so a list may be JSON text.
    const paths = typeof value === "string" ? listFrom(value) : value;
    if (!Array.isArray(paths)) throw badValue("metadata.audio_paths must be a list of paths");
    return paths.map((path) => ({ kind: "path", path: String(path) }));
  }
  if (typeof value !== "string") throw badValue(`metadata.${key} must be text`);
  return [key === "audio_data" ? { kind: "data", url: value } : { kind: "path", path: value }];
}

function listFrom(text: string): unknown {
  try {
    return loadsPlain(text);
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}

/** Inserts audio before the text of the last user message, or adds a user message. */
export function insertAudio(messages: readonly ChatMessage[], urls: readonly string[]): ChatMessage[] {
  if (urls.length === 0) return [...messages];
  const parts = urls.map((url): UserPart => ({ type: "audio_url", audio_url: { url } }));
  const index = messages.findLastIndex((message) => message.role === "user");
  const message = messages[index];
  if (message?.role !== "user") return [...messages, { role: "user", content: parts }];
  const { content } = message;
  const rest: UserPart[] = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
  return messages.with(index, { ...message, content: [...parts, ...rest] });
}

/** Whether an error of an engine means that the prompt is too long for its context. */
export function isContextOverflow(status: number, body: string): boolean {
  return status === 400 && (body.includes("context length") || body.includes("max_tokens"));
}

/** The answer to a prompt that is too long: an empty, truncated completion. */
export function contextOverflowCompletion(
  model: string,
  now = Math.floor(Date.now() / 1000),
): ChatCompletion {
  return emptyCompletion(model, "length", now);
}

/** The answer to a history that ends with reasoning, if the engine must not continue it. */
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

function badValue(message: string): ConversionError {
  return new ConversionError("value", message);
}
