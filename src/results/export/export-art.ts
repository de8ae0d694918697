import type { Row } from "../../rollouts/files/jsonl-rows.ts";
import type { ChatMessage } from "../../wire/schemas/chat-types.ts";
import type { TokenInformation } from "../../wire/schemas/item-types.ts";
import { type ConversationOptions, conversationOf } from "./export-conversation.ts";
import { asFloat, type ExportedRollout, identity, toolsOf } from "./export-records.ts";

/** `art`: a Trajectory. Output of the policy is a choice, with its tokens if known; the rest are messages. */
export function artRecord(rollout: ExportedRollout, options: ConversationOptions): Row {
  const conversation = conversationOf(rollout.row, { ...options, tokens: true });
  const { reward, ...metadata } = identity(rollout);
  return {
    messages_and_choices: [...conversation.prompt, ...conversation.completion.map(choiceOf)],
    ...toolsOf(conversation),
    reward,
    metrics: {},
    metadata,
  };
}

function choiceOf(message: ChatMessage): Row | ChatMessage {
  if (message.role !== "assistant") return message;
  const { prompt_token_ids, generation_token_ids, generation_log_probs, ...plain } = message as ChatMessage &
    Partial<TokenInformation>;
  const calls = "tool_calls" in plain && Array.isArray(plain.tool_calls) && plain.tool_calls.length > 0;
  const content = generation_token_ids?.map((id, index) => ({
    token: `token_id:${id}`,
    bytes: null,
    logprob: asFloat(generation_log_probs?.[index] ?? 0),
    top_logprobs: [],
  }));
  return {
    finish_reason: calls ? "tool_calls" : "stop",
    index: 0,
    logprobs: content ? { content, refusal: null } : null,
    message: plain,
    ...(prompt_token_ids && generation_token_ids && { prompt_token_ids, token_ids: generation_token_ids }),
  };
}
