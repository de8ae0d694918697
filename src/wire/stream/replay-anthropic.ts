import { dumps } from "../../python/json/json-dumps.ts";
import type { JsonObject } from "../../python/json/json-object.ts";
import { badValue, unsupported } from "../convert/conversion-loss.ts";
import type {
  AnthropicMessage,
  AnthropicOutputBlock,
  AnthropicToolUseBlock,
} from "../schemas/anthropic-types.ts";
import { wordOf } from "../schemas/readers.ts";
import type { SseEvent } from "./sse.ts";

const frame = (type: string, fields: JsonObject = {}): SseEvent => ({
  event: type,
  data: { type, ...fields },
});

/** What a replayed Messages stream holds. */
export interface ReplayAnthropicOptions {
  /** Only what the Python original sends: thoughts without their signatures. */
  likeOriginal?: boolean;
}

/** Replays a finished Messages answer as the stream its clients expect: one delta per text of a block. */
export function* replayAnthropicMessage(
  message: AnthropicMessage,
  options: ReplayAnthropicOptions = {},
): Generator<SseEvent> {
  const { usage = {}, content = [] } = message as Partial<AnthropicMessage>;
  yield frame("message_start", { message: { ...message, content: [], usage } });
  for (const [index, block] of content.entries()) {
    const [shell, ...deltas] = shellAndDeltas(block, options);
    yield frame("content_block_start", { index, content_block: shell });
    for (const delta of deltas) yield frame("content_block_delta", { index, delta });
    yield frame("content_block_stop", { index });
  }
  const { stop_reason = null, stop_sequence = null } = message as Partial<AnthropicMessage> & {
    stop_sequence?: string | null;
  };
  const { output_tokens = 0 } = usage as Partial<AnthropicMessage["usage"]>;
  yield frame("message_delta", {
    delta: { stop_reason, stop_sequence },
    usage: { output_tokens },
  });
  yield frame("message_stop");
}

function shellAndDeltas(
  block: AnthropicOutputBlock,
  { likeOriginal = false }: ReplayAnthropicOptions,
): [shell: JsonObject, ...deltas: JsonObject[]] {
  switch (block.type) {
    case "text": {
      const { text = "" } = block;
      return [
        { type: "text", text: "" },
        { type: "text_delta", text },
      ];
    }
    case "thinking": {
      const { thinking = "", signature = "" } = block;
      const delta = { type: "thinking_delta", thinking };
      if (likeOriginal) return [{ type: "thinking", thinking: "" }, delta];
      const shell = { type: "thinking", thinking: "", signature: "" };
      // Without its signature a thought cannot be sent back to who signed it.
      return signature === "" ? [shell, delta] : [shell, delta, { type: "signature_delta", signature }];
    }
    case "redacted_thinking":
      if (likeOriginal) break;
      return [{ ...block }];
    case "tool_use": {
      const { id, name, input = {} } = block as Partial<AnthropicToolUseBlock>;
      if (id === undefined || name === undefined) return badValue("a tool_use block needs an id and a name");
      return [
        { type: "tool_use", id, name, input: {} },
        { type: "input_json_delta", partial_json: dumps(input) },
      ];
    }
  }
  return unsupported(`'${wordOf((block as { type?: unknown }).type)}' blocks have no form in a stream`);
}

/** A failure in the middle of a Messages stream, in the API's own error event. */
export function* replayAnthropicFailure(message: string): Generator<SseEvent> {
  yield frame("error", { error: { type: "api_error", message } });
}
