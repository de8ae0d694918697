import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { isTruthy } from "../../python/truth.ts";
import { badValue } from "../convert/conversion-loss.ts";
import type {
  ChatAssistantMessage,
  ChatChoice,
  ChatCompletion,
  ChatFunctionCall,
  ChatToolCall,
} from "../schemas/chat-types.ts";
import { DONE, type SseEvent } from "./sse.ts";

/** What a replayed chat stream holds. */
export interface ReplayChatOptions {
  /** Send a last chunk with the usage, as `stream_options.include_usage` asks. */
  includeUsage?: boolean;
  /** Only the deltas the Python original sends: refusals and calls in the old form stay out. */
  likeOriginal?: boolean;
}

/** Replays a finished chat completion as the chunks a streaming client expects; token ids are not among them. */
export function* replayChatCompletion(
  completion: ChatCompletion,
  { includeUsage = false, likeOriginal = false }: ReplayChatOptions = {},
): Generator<SseEvent> {
  const chunk = (choices: JsonObject[], usage?: unknown): SseEvent => {
    const { id = null, created = null, model = null } = completion as Partial<ChatCompletion>;
    const data: JsonObject = { id, object: "chat.completion.chunk", created, model, choices };
    const fingerprint = (completion as unknown as JsonObject)["system_fingerprint"];
    if (fingerprint != null) data["system_fingerprint"] = fingerprint;
    if (usage !== undefined) data["usage"] = usage;
    return { event: null, data };
  };
  for (const [index, choice] of (completion.choices ?? []).entries()) {
    if (!isObject(choice)) badValue(`choices.${index} must be an object`);
    for (const delta of deltas(choice, likeOriginal)) yield chunk([{ index, delta, finish_reason: null }]);
    yield chunk([{ index, delta: {}, finish_reason: choice.finish_reason ?? null }]);
  }
  if (includeUsage && completion.usage != null) yield chunk([], completion.usage);
  yield { event: null, data: DONE };
}

/** Chunks know function calls only; what a call of another kind holds has no place in them. */
function callDelta(call: ChatToolCall, index: number): JsonObject {
  const { id = null, type, function: called } = call as Partial<ChatFunctionCall>;
  const { name = null, arguments: text } = called ?? {};
  return { index, id, type: type || "function", function: { name, arguments: text || "" } };
}

function* deltas(choice: ChatChoice, likeOriginal: boolean): Generator<JsonObject> {
  const message: Partial<ChatAssistantMessage> = choice.message ?? {};
  yield { role: message.role || "assistant" };
  const reasoning = message.reasoning_content || message.reasoning;
  if (reasoning) yield { reasoning_content: reasoning };
  if (isTruthy(message.content)) yield { content: message.content };
  if (!likeOriginal && message.refusal) yield { refusal: message.refusal };
  const calls = message.tool_calls ?? [];
  if (calls.length > 0) yield { tool_calls: calls.map(callDelta) };
  if (!likeOriginal && message.function_call) yield { function_call: message.function_call };
}
