import { isObject, type JsonObject, JsonTextError, loads } from "../../base/python/json/door.ts";
import { type NewId, newId } from "../ids.ts";
import type {
  AnthropicMessage,
  AnthropicOutputBlock,
  AnthropicRedactedThinkingBlock,
  AnthropicThinkingBlock,
  AnthropicToolUseBlock,
} from "../schemas/anthropic-types.ts";
import type { FunctionCall, OutputPart, Reasoning, ResponseOutputItem } from "../schemas/item-types.ts";
import type { Response } from "../schemas/responses.ts";
import { badValue, type OnLoss, unsupported } from "./conversion-loss.ts";

/** Options for the conversion to a Messages answer. */
export interface ToAnthropicMessageOptions {
  /** The model name in the request of the client. */
  model: string;
  /** The stop sequence at which the answer was cut. */
  stopSequence?: string | null;
  newId?: NewId;
  onLoss?: OnLoss;
}

/** Converts a Response to a Messages answer. */
export function convertToAnthropicMessage(
  response: Pick<Response, "output" | "incomplete_details" | "usage">,
  { model, stopSequence, newId: makeId = newId, onLoss }: ToAnthropicMessageOptions,
): AnthropicMessage {
  const content = response.output.flatMap(toBlocks);
  if (response.usage?.input_tokens_details?.cached_tokens) {
    onLoss?.({ field: "usage.input_tokens_details", reason: "cached tokens are not reported" });
  }
  return {
    id: makeId("msg"),
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: stopSequence == null ? stopReason(response) : "stop_sequence",
    ...(stopSequence != null && { stop_sequence: stopSequence }),
    usage: {
      input_tokens: response.usage?.input_tokens ?? 0,
      output_tokens: response.usage?.output_tokens ?? 0,
    },
  };
}

function stopReason(
  response: Pick<Response, "output" | "incomplete_details">,
): AnthropicMessage["stop_reason"] {
  const reason = response.incomplete_details?.reason;
  if (reason === "max_output_tokens") return "max_tokens";
  if (reason === "content_filter") return "refusal";
  return response.output.some((item) => item.type === "function_call") ? "tool_use" : "end_turn";
}

function toBlocks(item: ResponseOutputItem, index: number): AnthropicOutputBlock[] {
  switch (item.type) {
    case "message":
    case undefined:
      if (typeof item.content === "string")
        return unsupported(`output.${index}: the content of an answer must be a list of parts`);
      return item.content.map((part) => textBlock(part as OutputPart, index));
    case "reasoning":
      return thinkingBlocks(item);
    case "function_call":
      return [toolUseBlock(item)];
    default:
      return unsupported(`output.${index}: '${item.type}' items have no form in Messages answers`);
  }
}

function textBlock(part: OutputPart, index: number): AnthropicOutputBlock {
  if (part.type === "output_text") return { type: "text", text: part.text };
  if (part.type === "refusal") return { type: "text", text: part.refusal };
  return unsupported(
    `output.${index}: '${(part as { type: string }).type}' parts have no form in Messages answers`,
  );
}

/** One thinking block per summary, with an empty signature if there is none. Encrypted reasoning becomes a redacted block. */
export function thinkingBlocks(item: Reasoning): (AnthropicThinkingBlock | AnthropicRedactedThinkingBlock)[] {
  const signature = item.encrypted_content ?? "";
  if (item.summary.length === 0 && signature !== "") {
    return [{ type: "redacted_thinking", data: signature }];
  }
  return item.summary.map(({ text }) => ({ type: "thinking", thinking: text, signature }));
}

/** Converts a function call to a tool use. Its arguments must be a JSON object. */
export function toolUseBlock(call: FunctionCall): AnthropicToolUseBlock {
  return { type: "tool_use", id: call.call_id, name: call.name, input: inputOf(call) };
}

/** Numbers such as 1.0 keep the form in which the model wrote them. */
function inputOf({ arguments: text, call_id, name }: FunctionCall): JsonObject {
  let input: unknown;
  try {
    input = loads(text === "" ? "{}" : text, { allowNonFinite: true });
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
  }
  return isObject(input)
    ? input
    : badValue(`the arguments of call '${call_id}' (${name}) are not a JSON object`);
}
