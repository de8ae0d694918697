import { dumps } from "../python/json-dumps.ts";
import type { AnthropicMessage, AnthropicOutputBlock } from "./anthropic-types.ts";
import type { JsonObject } from "./readers.ts";
import type { SseEvent } from "./sse.ts";

const frame = (type: string, fields: JsonObject = {}): SseEvent => ({
  event: type,
  data: { type, ...fields },
});

/** Replays a finished Messages answer as the stream its clients expect: one delta per block. */
export function* replayAnthropicMessage(message: AnthropicMessage): Generator<SseEvent> {
  yield frame("message_start", { message: { ...message, content: [] } });
  for (const [index, block] of message.content.entries()) {
    const [shell, delta] = shellAndDelta(block);
    yield frame("content_block_start", { index, content_block: shell });
    yield frame("content_block_delta", { index, delta });
    yield frame("content_block_stop", { index });
  }
  const { stop_reason, stop_sequence = null } = message as AnthropicMessage & {
    stop_sequence?: string | null;
  };
  yield frame("message_delta", {
    delta: { stop_reason, stop_sequence },
    usage: { output_tokens: message.usage?.output_tokens ?? 0 },
  });
  yield frame("message_stop");
}

function shellAndDelta(block: AnthropicOutputBlock): [shell: JsonObject, delta: JsonObject] {
  switch (block.type) {
    case "text":
      return [
        { type: "text", text: "" },
        { type: "text_delta", text: block.text },
      ];
    case "thinking":
      return [
        { type: "thinking", thinking: "" },
        { type: "thinking_delta", thinking: block.thinking },
      ];
    case "tool_use":
      return [
        { type: "tool_use", id: block.id, name: block.name, input: {} },
        { type: "input_json_delta", partial_json: dumps(block.input) },
      ];
  }
}

/** A failure in the middle of a Messages stream, in the API's own error event. */
export function* replayAnthropicFailure(message: string): Generator<SseEvent> {
  yield frame("error", { error: { type: "api_error", message } });
}
