import type { ChatChoice, ChatCompletion } from "./chat-types.ts";
import type { JsonObject } from "./readers.ts";
import { DONE, type SseEvent } from "./sse.ts";

/** What a replayed chat stream holds. */
export interface ReplayChatOptions {
  /** Send a last chunk with the usage, as `stream_options.include_usage` asks. */
  includeUsage?: boolean;
}

/** Replays a finished chat completion as the chunks a streaming client expects; token ids are not among them. */
export function* replayChatCompletion(
  completion: ChatCompletion,
  { includeUsage = false }: ReplayChatOptions = {},
): Generator<SseEvent> {
  const chunk = (choices: JsonObject[], usage?: unknown): SseEvent => {
    const { id, created, model } = completion;
    const data: JsonObject = { id, object: "chat.completion.chunk", created, model, choices };
    const fingerprint = (completion as unknown as JsonObject)["system_fingerprint"];
    if (fingerprint != null) data["system_fingerprint"] = fingerprint;
    if (usage !== undefined) data["usage"] = usage;
    return { event: null, data };
  };
  for (const [index, choice] of completion.choices.entries()) {
    for (const delta of deltas(choice)) yield chunk([{ index, delta, finish_reason: null }]);
    yield chunk([{ index, delta: {}, finish_reason: choice.finish_reason ?? null }]);
  }
  if (includeUsage && completion.usage != null) yield chunk([], completion.usage);
  yield { event: null, data: DONE };
}

function* deltas({ message }: ChatChoice): Generator<JsonObject> {
  yield { role: message.role ?? "assistant" };
  const reasoning = message.reasoning_content || message.reasoning;
  if (reasoning) yield { reasoning_content: reasoning };
  if (message.content) yield { content: message.content };
  const calls = message.tool_calls ?? [];
  if (calls.length > 0) yield { tool_calls: calls.map((call, index) => ({ index, ...call })) };
}
