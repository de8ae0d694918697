import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import { wordOf } from "../schemas/readers.ts";
import { parseData } from "./sse.ts";

/** The message of a Messages stream; null when neither a message nor a block was begun. */
export function assembleAnthropic(events: readonly JsonObject[]): JsonObject | null {
  let message: JsonObject | null = null;
  const blocks = new Map<number, JsonObject>();
  const inputs = new Map<number, string>();
  const usage: JsonObject = {};
  for (const event of events) {
    const index = typeof event["index"] === "number" ? event["index"] : 0;
    const delta = objectOf(event["delta"]);
    switch (event["type"]) {
      case "message_start":
        message = { ...objectOf(event["message"]) };
        Object.assign(usage, objectOf(message["usage"]));
        break;
      case "content_block_start":
        blocks.set(index, { ...objectOf(event["content_block"]) });
        break;
      case "content_block_delta":
        addDelta(blocks, inputs, index, delta);
        break;
      case "message_delta":
        Object.assign(usage, objectOf(event["usage"]));
        for (const [key, value] of Object.entries(delta)) {
          if (message !== null && value != null) message[key] = value;
        }
        break;
    }
  }
  if (message === null && blocks.size === 0) return null;
  const ordered = [...blocks].sort(([left], [right]) => left - right);
  const content = ordered.map(([index, block]) => withInput(block, inputs.get(index)));
  const assembled: JsonObject = { ...message, type: "message", content };
  if (Object.keys(usage).length > 0) assembled["usage"] = usage;
  return assembled;
}

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const DELTAS = new Map(
  Object.entries({
    text_delta: { block: "text", field: "text" },
    thinking_delta: { block: "thinking", field: "thinking" },
    signature_delta: { block: "thinking", field: "signature" },
  }),
);

function addDelta(
  blocks: Map<number, JsonObject>,
  inputs: Map<number, string>,
  index: number,
  delta: JsonObject,
): void {
  const block = blocks.get(index) ?? {};
  blocks.set(index, block);
  if (delta["type"] === "input_json_delta") {
    inputs.set(index, (inputs.get(index) ?? "") + textOf(delta["partial_json"]));
    return;
  }
  const known = DELTAS.get(wordOf(delta["type"]));
  if (known === undefined) return;
  block["type"] ??= known.block;
  block[known.field] = textOf(block[known.field]) + textOf(delta[known.field]);
}

/** A tool's input arrives as pieces of JSON text; text that is not JSON is kept under `_raw`. */
function withInput(block: JsonObject, text: string | undefined): JsonObject {
  if (block["type"] !== "tool_use" || text === undefined || text === "") return block;
  const input = parseData(text);
  return { ...block, input: isObject(input) ? input : { _raw: text } };
}
