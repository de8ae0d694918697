import {
  HOSTED_ITEM_TYPES,
  type HostedItemType,
  type ResponseInputItem,
  type ResponseOutputItem,
  type TokenInformation,
} from "./item-types.ts";
import {
  anything,
  at,
  bool,
  byType,
  type Fields,
  float,
  int,
  isObject,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  record,
  refuse,
  str,
  type Trail,
  tryReading,
} from "./readers.ts";

const TOKEN_LISTS = ["prompt_token_ids", "generation_token_ids", "generation_log_probs"] as const;
const tokenReaders = {
  prompt_token_ids: list(int),
  generation_token_ids: list(int),
  generation_log_probs: list(float),
};

/** Reads the token lists of an item or chat message: all three, or undefined where there is none. */
export function readTokens(value: Record<string, unknown>, trail: Trail): TokenInformation | undefined {
  const routed = value["routed_experts"];
  let present = 0;
  for (const name of TOKEN_LISTS) if (value[name] != null) present++;
  if (present === 0 && routed == null) return undefined;
  if (present < TOKEN_LISTS.length) {
    const msg = `Value error, ${TOKEN_LISTS.join(", ")} must all be present when one of them is`;
    return refuse(trail, "value_error", msg, value);
  }
  const tokens: TokenInformation = {
    prompt_token_ids: at("prompt_token_ids", tokenReaders.prompt_token_ids, value["prompt_token_ids"], trail),
    generation_token_ids: at(
      "generation_token_ids",
      tokenReaders.generation_token_ids,
      value["generation_token_ids"],
      trail,
    ),
    generation_log_probs: at(
      "generation_log_probs",
      tokenReaders.generation_log_probs,
      value["generation_log_probs"],
      trail,
    ),
  };
  if (routed != null) tokens.routed_experts = routed;
  return tokens;
}

function withTokens<T>(reader: Reader<T>): Reader<T> {
  return (value, trail) => {
    const item = reader(value, trail);
    const tokens = isObject(value) ? readTokens(value, trail) : undefined;
    return tokens === undefined ? item : { ...tokens, ...item };
  };
}

const item = (fields: Fields) => withTokens(object<ResponseOutputItem>(fields, "drop"));

const itemStatus = oneOf("in_progress", "completed", "incomplete");
const url: Reader<unknown> = (value, trail) =>
  isObject(value) ? urlObject(value, trail) : str(value, trail);
const urlObject = object({ url: str }, "drop");
const detail = nullable(oneOf("low", "high", "auto", "original"));

const inputPartFields = {
  input_text: { text: str, type: str },
  input_image: {
    detail: optional(detail),
    type: str,
    file_id: optional(nullable(str)),
    image_url: optional(nullable(url)),
  },
  input_file: {
    type: str,
    file_data: optional(nullable(str)),
    file_id: optional(nullable(str)),
    file_url: optional(nullable(str)),
    filename: optional(nullable(str)),
  },
} satisfies Record<string, Fields>;

const videoFields = object<{ video_url?: unknown; video?: unknown }>(
  { type: str, video_url: optional(url), video: optional(url) },
  "drop",
);
const inputVideo: Reader<unknown> = (value, trail) => {
  const part = videoFields(value, trail);
  const source = part?.video_url ?? part?.video;
  const link = isObject(source) ? source["url"] : source;
  if ((part?.video_url === undefined) === (part?.video === undefined) || link === "") {
    return refuse(
      trail,
      "value_error",
      "Value error, give exactly one of video_url and video, not empty",
      value,
    );
  }
  return part;
};

const inputPart = byType<unknown>({
  input_text: object(inputPartFields.input_text, "drop"),
  input_image: object(inputPartFields.input_image, "drop"),
  input_file: object(inputPartFields.input_file, "drop"),
  input_video: inputVideo,
});
const inputParts = list(inputPart);
const textOrParts: Reader<unknown> = (value, trail) =>
  typeof value === "string" ? value : inputParts(value, trail);

const outputPart = byType<unknown>({
  output_text: object(
    { annotations: list(record), text: str, type: str, logprobs: optional(nullable(list(record))) },
    "drop",
  ),
  refusal: object({ refusal: str, type: str }, "drop"),
});

const easyMessage = item({
  content: textOrParts,
  role: oneOf("user", "assistant", "system", "developer"),
  type: optional(oneOf("message")),
});

const outputMessage = item({
  id: str,
  content: list(outputPart),
  role: optional(oneOf("assistant")),
  status: optional(itemStatus),
  type: optional(oneOf("message")),
});

/** A message is one of the model's when its parts are the model's, or when it is empty and has an id. */
function isOutputMessage(value: Record<string, unknown>): boolean {
  const content = value["content"];
  if (!Array.isArray(content)) return false;
  if (content.length === 0)
    return typeof value["id"] === "string" && (value["role"] ?? "assistant") === "assistant";
  return content.some(
    (part) => isObject(part) && (part["type"] === "output_text" || part["type"] === "refusal"),
  );
}

const message: Reader<ResponseOutputItem> = (value, trail) =>
  isObject(value) && isOutputMessage(value) ? outputMessage(value, trail) : easyMessage(value, trail);

const summaryText = object({ text: str, type: oneOf("summary_text") }, "drop");
const reasoningText = object({ text: str, type: oneOf("reasoning_text") }, "drop");

const own: Record<string, Reader<ResponseOutputItem>> = {
  message,
  function_call: item({
    arguments: str,
    call_id: str,
    name: str,
    type: str,
    id: optional(nullable(str)),
    status: optional(nullable(itemStatus)),
  }),
  function_call_output: item({
    call_id: str,
    output: textOrParts,
    type: str,
    id: optional(nullable(str)),
    status: optional(nullable(itemStatus)),
  }),
  // A reasoning item's `status` is dropped: the OpenAI API refuses it when the item is sent back.
  reasoning: item({
    id: str,
    summary: list(summaryText),
    type: str,
    encrypted_content: optional(nullable(str)),
    content: optional(nullable(list(reasoningText))),
  }),
};

const hostedFields: Record<HostedItemType, Fields> = {
  mcp_call: { name: str, arguments: str, server_label: str },
  mcp_list_tools: { server_label: str, tools: list(record) },
  mcp_approval_request: { name: str, arguments: str, server_label: str },
  mcp_approval_response: { approval_request_id: str, approve: bool },
  file_search_call: { queries: list(str) },
  web_search_call: { action: optional(nullable(record)) },
  computer_call: { call_id: str, action: optional(nullable(record)) },
  computer_call_output: { call_id: str, output: record },
  image_generation_call: { result: optional(nullable(str)) },
  code_interpreter_call: { container_id: str, code: optional(nullable(str)) },
  local_shell_call: { call_id: str, action: record },
  local_shell_call_output: { output: str },
  custom_tool_call: { call_id: str, name: str, input: str },
  custom_tool_call_output: { call_id: str, output: anything },
};

const hosted = Object.fromEntries(
  HOSTED_ITEM_TYPES.map((type): [string, Reader<ResponseOutputItem>] => [
    type,
    withTokens(object<ResponseOutputItem>(hostedFields[type], "keep")),
  ]),
);

/** Reads one item of a response's output; it must have a known `type`. */
export const readOutputItem: Reader<ResponseOutputItem> = byType({ ...own, ...hosted });

/** Reads one item of a request's input; without a `type` whatever is no message is kept verbatim. */
export const readInputItem: Reader<ResponseInputItem> = (value, trail) => {
  if (!isObject(value) || value["type"] != null) return readOutputItem(value, trail);
  const asMessage = tryReading(message, value);
  if (asMessage !== undefined) return asMessage;
  readTokens(value, trail);
  return value as ResponseInputItem;
};
