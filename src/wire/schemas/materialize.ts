import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import type { Usage } from "../convert/usage.ts";
import type {
  OutputPart,
  ResponseInputItem,
  ResponseOutputItem,
  TokenInformation,
  Tool,
} from "./item-types.ts";
import { CREATE_PARAM_KEYS, RESPONSE_KEYS, type Response, type ResponseCreateParams } from "./responses.ts";
import { isMaterialized, isTrusted, trust, trustMaterialized } from "./trusted.ts";

/** Request params with all keys, as `/verify` returns them. */
export type MaterializedCreateParams = Required<ResponseCreateParams>;

/** A Response with all keys. Keys without a value are null. */
export type MaterializedResponse = Required<Response>;

function tokensOf(item: Partial<TokenInformation>): Partial<TokenInformation> {
  if (item.prompt_token_ids === undefined) return {};
  const { prompt_token_ids, generation_token_ids, generation_log_probs, routed_experts } = item;
  const tokens = { prompt_token_ids, generation_token_ids, generation_log_probs };
  return routed_experts === undefined ? tokens : { ...tokens, routed_experts };
}

function materializePart(part: OutputPart): OutputPart {
  return part.type === "refusal"
    ? { refusal: part.refusal, type: part.type }
    : { annotations: part.annotations, text: part.text, type: part.type, logprobs: part.logprobs ?? null };
}

/** Fills in the defaults of an item: type and status of a message, and null for other absent fields. */
export function materializeItem<T extends ResponseInputItem>(item: T): T;
export function materializeItem(item: ResponseInputItem): ResponseInputItem {
  switch (item.type) {
    case "function_call":
      return {
        ...tokensOf(item),
        arguments: item.arguments,
        call_id: item.call_id,
        name: item.name,
        type: item.type,
        id: item.id ?? null,
        status: item.status ?? null,
      };
    case "function_call_output":
      return {
        ...tokensOf(item),
        call_id: item.call_id,
        output: item.output,
        type: item.type,
        id: item.id ?? null,
        status: item.status ?? null,
      };
    case "reasoning":
      return {
        ...tokensOf(item),
        id: item.id,
        summary: item.summary,
        type: item.type,
        encrypted_content: item.encrypted_content ?? null,
        content: item.content ?? null,
      };
    case "message":
    case undefined:
      return materializeMessage(item as MessageLike) ?? item;
    default:
      return item;
  }
}

type MessageLike = Partial<TokenInformation> & Record<"id" | "role" | "content" | "status", unknown>;

const EASY_ROLES = new Set<unknown>(["user", "assistant", "system", "developer"]);

const partsAre = (content: unknown, matches: (part: JsonObject) => boolean): boolean =>
  Array.isArray(content) && content.every((part) => isObject(part) && matches(part));

const isOutputPart = (part: JsonObject) =>
  part["type"] === "refusal" || (part["type"] === "output_text" && part["annotations"] !== undefined);

const isInputPart = (part: JsonObject) =>
  typeof part["type"] === "string" && part["type"].startsWith("input_");

/** Returns undefined for an untyped item that is not a message. */
function materializeMessage(item: MessageLike): ResponseInputItem | undefined {
  const { id, role, content, status } = item;
  if (typeof id === "string" && partsAre(content, isOutputPart)) {
    return {
      ...tokensOf(item),
      id,
      content: (content as OutputPart[]).map(materializePart),
      role: "assistant",
      status: (status as "completed" | undefined) ?? "completed",
      type: "message",
    };
  }
  if (!EASY_ROLES.has(role) || !(typeof content === "string" || partsAre(content, isInputPart)))
    return undefined;
  return { ...tokensOf(item), content, role, type: "message" } as ResponseInputItem;
}

function materializeTool(tool: Tool): Tool {
  if (tool.type !== "function") return tool;
  const { name, parameters, strict, type, description, ...rest } = tool;
  return {
    name,
    parameters: parameters ?? null,
    strict: strict ?? null,
    type,
    description: description ?? null,
    ...rest,
  } as Tool;
}

function materializeUsage(usage: Usage): Usage {
  const { input_tokens, input_tokens_details, output_tokens, output_tokens_details, total_tokens, ...rest } =
    usage;
  return {
    input_tokens,
    input_tokens_details: input_tokens_details ?? { cached_tokens: null },
    output_tokens,
    output_tokens_details: output_tokens_details ?? { reasoning_tokens: null },
    total_tokens,
    ...rest,
  };
}

const withNulls = (keys: readonly string[], value: unknown) => {
  if (!isObject(value)) return value ?? null;
  const filled: JsonObject = {};
  for (const key of keys) filled[key] = value[key] ?? null;
  return { ...filled, ...value };
};

const nulls = (keys: readonly string[]): Readonly<JsonObject> =>
  Object.fromEntries(keys.map((key) => [key, null]));
const NO_PARAMS = nulls(CREATE_PARAM_KEYS);
const NO_RESPONSE = nulls(RESPONSE_KEYS);

/** Fills in all optional keys of a request: null, or the default of the API for tools and tool choice. */
export function materializeCreateParams(params: ResponseCreateParams): MaterializedCreateParams {
  if (isMaterialized(params)) return params as MaterializedCreateParams;
  const source = params as unknown as JsonObject;
  const result: JsonObject = { ...NO_PARAMS };
  for (const key of Object.keys(source)) if (Object.hasOwn(NO_PARAMS, key)) result[key] = source[key] ?? null;
  result["input"] =
    typeof params.input === "string" ? params.input : params.input.map((item) => materializeItem(item));
  result["parallel_tool_calls"] = params.parallel_tool_calls ?? true;
  result["tool_choice"] = params.tool_choice ?? "auto";
  result["tools"] = params.tools ?? [];
  if (isTrusted(params)) trust(result);
  return trustMaterialized(result) as unknown as MaterializedCreateParams;
}

/** Fills in all known keys of a Response. Other keys follow them unchanged. */
export function materializeResponse(response: Response): MaterializedResponse {
  if (isMaterialized(response)) return response as MaterializedResponse;
  const source = response as unknown as JsonObject;
  const result: JsonObject = { ...NO_RESPONSE };
  for (const key of Object.keys(source)) {
    if (Object.hasOwn(NO_RESPONSE, key)) result[key] = source[key] ?? null;
    else define(result, key, source[key]);
  }
  result["output"] = response.output.map((item: ResponseOutputItem) => materializeItem(item));
  result["tools"] = response.tools.map(materializeTool);
  result["reasoning"] = withNulls(["effort", "generate_summary", "summary"], response.reasoning);
  result["text"] = withNulls(["format", "verbosity"], response.text);
  result["incomplete_details"] = withNulls(["reason"], response.incomplete_details);
  if (response.usage) result["usage"] = materializeUsage(response.usage);
  if (Array.isArray(response.instructions)) {
    result["instructions"] = response.instructions.map((item) => materializeItem(item));
  }
  if (isTrusted(response)) trust(result);
  return trustMaterialized(result) as unknown as MaterializedResponse;
}

/** Sets a key from outside, which may be `__proto__`. */
function define(target: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}
