import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import {
  HOSTED_ITEM_TYPES,
  type HostedItemType,
  type ResponseInputItem,
  type ResponseOutputItem,
  type TokenInformation,
} from "./item-types.ts";
import {
  at,
  best,
  byType,
  either,
  type Fields,
  float,
  int,
  list,
  nullable,
  nullish,
  object,
  oneOf,
  optional,
  type Reader,
  reject,
  str,
  type Trail,
} from "./readers.ts";
import { hostedFields } from "./validate-hosted.ts";
import { inputParts, messageContent, outputParts, toolOutputReader } from "./validate-parts.ts";

const TOKENS_INCOMPLETE =
  "Value error, prompt_token_ids, generation_token_ids, generation_log_probs must all be present when one of them is";
const readIds = list(int);
const readLogProbs = list(float);
const readExperts: Reader<unknown> = nullable(either<unknown>(str, list(list(list(int)))));

/** Reads the token lists of an item or chat message: all three, or undefined if the message has none. */
export function readTokens(value: JsonObject, trail: Trail): TokenInformation | undefined {
  const { prompt_token_ids, generation_token_ids, generation_log_probs, routed_experts } = value;
  let present = 0;
  if (prompt_token_ids !== undefined) present++;
  if (generation_token_ids !== undefined) present++;
  if (generation_log_probs !== undefined) present++;
  if (present === 0 && routed_experts === undefined) return undefined;
  if (present < 3) return reject(trail, "value_error", TOKENS_INCOMPLETE, value);
  const tokens: TokenInformation = {
    prompt_token_ids: at("prompt_token_ids", readIds, prompt_token_ids, trail),
    generation_token_ids: at("generation_token_ids", readIds, generation_token_ids, trail),
    generation_log_probs: at("generation_log_probs", readLogProbs, generation_log_probs, trail),
  };
  if (routed_experts !== undefined)
    tokens.routed_experts = at("routed_experts", readExperts, routed_experts, trail);
  return tokens;
}

function withTokens<T>(reader: Reader<T>): Reader<T> {
  return (value, trail) => {
    const item = reader(value, trail);
    const tokens = isObject(value) ? readTokens(value, trail) : undefined;
    if (tokens === undefined) return item;
    if (trail.score !== undefined) trail.score += 2 * Object.keys(tokens).length;
    return { ...tokens, ...item };
  };
}

/** For items that no model generated: their token lists are checked, but not read. */
export function checkingTokens<T>(reader: Reader<T>): Reader<T> {
  return (value, trail) => {
    if (isObject(value)) readTokens(value, trail);
    return reader(value, trail);
  };
}

const item = (fields: Fields) => withTokens(object<ResponseOutputItem>(fields));

const itemStatus = oneOf("in_progress", "completed", "incomplete");

const easyMessage = item({
  content: messageContent,
  role: oneOf("user", "assistant", "system", "developer"),
  type: optional(oneOf("message")),
});

/** A message for the model that has a status. */
const inputMessage = item({
  content: inputParts,
  role: oneOf("user", "system", "developer"),
  status: optional(itemStatus),
  type: optional(oneOf("message")),
});

const outputMessage = item({
  id: str,
  content: outputParts,
  role: optional(oneOf("assistant")),
  status: optional(itemStatus),
  type: optional(oneOf("message")),
});

const messageForms = [easyMessage, inputMessage, outputMessage];
const IS_OUTPUT = { only: outputMessage, meant: outputMessage };

/** Chooses the form that fits most fields of the message. */
const message: Reader<ResponseOutputItem> = (value, trail) =>
  isObject(value) && typeof value["content"] !== "string"
    ? best(value, trail, messageForms, hasOutputParts(value) ? IS_OUTPUT : undefined)
    : easyMessage(value, trail);

const hasOutputParts = ({ content }: JsonObject): boolean =>
  Array.isArray(content) &&
  content.some((part) => isObject(part) && (part["type"] === "output_text" || part["type"] === "refusal"));

const summaryText = object({ text: str, type: oneOf("summary_text") }, "keep");
const reasoningText = object({ text: str, type: oneOf("reasoning_text") }, "keep");

const functionCall = item({
  arguments: str,
  call_id: str,
  name: str,
  type: optional(str),
  id: nullish(str),
  status: nullish(itemStatus),
});
const functionCallOutput = checkingTokens(
  object<ResponseOutputItem>({
    call_id: str,
    output: toolOutputReader,
    type: optional(str),
    id: nullish(str),
    status: nullish(itemStatus),
  }),
);
// A reasoning item's `status` is dropped: the OpenAI API rejects it when the item is sent back.
const reasoning = item({
  id: str,
  summary: list(summaryText),
  type: optional(str),
  encrypted_content: nullish(str),
  content: nullish(list(reasoningText)),
});

const hosted = Object.fromEntries(
  HOSTED_ITEM_TYPES.map((type) => [
    type,
    checkingTokens(object<ResponseOutputItem>(hostedFields[type], "keep")),
  ]),
) as Record<HostedItemType, Reader<ResponseOutputItem>>;

/** Reads one item of the output of a response. It must have a known `type`. */
export const readOutputItem: Reader<ResponseOutputItem> = byType({
  message,
  function_call: functionCall,
  function_call_output: functionCallOutput,
  reasoning,
  ...hosted,
});

type Form = readonly [type: string, reader: Reader<ResponseOutputItem>, needs: readonly string[]];

const tokenForms: readonly Form[] = [
  ["message", easyMessage, ["content", "role"]],
  ["message", inputMessage, ["content", "role"]],
  ["message", outputMessage, ["content", "id"]],
  ["function_call", functionCall, ["arguments", "call_id", "name"]],
];
const reasoningForm: Form = ["reasoning", reasoning, ["id", "summary"]];
const otherForms: readonly Form[] = [
  ["mcp_call", hosted.mcp_call, ["arguments", "name"]],
  ["mcp_list_tools", hosted.mcp_list_tools, []],
  ["mcp_approval_request", hosted.mcp_approval_request, ["arguments", "name"]],
];
const outputForm: Form = ["function_call_output", functionCallOutput, ["call_id", "output"]];

/** The possible forms of an item without `type`. The first of several that fit equally well is chosen. */
const FORMS = [...tokenForms, outputForm, reasoningForm, ...otherForms];
/** The same for an item with token lists: the forms with token lists come last. */
const FORMS_WITH_TOKENS = [outputForm, ...otherForms, ...tokenForms, reasoningForm];

function formsOf(value: JsonObject): Form[] {
  const forms = value["prompt_token_ids"] === undefined ? FORMS : FORMS_WITH_TOKENS;
  return forms.filter(([, , needs]) => needs.every((name) => value[name] !== undefined));
}

/** The assumed type of an item without `type`. An item that fits no form counts as a list of MCP tools. */
export function typeOfUntyped(value: JsonObject): string {
  let found = { type: "mcp_list_tools", score: -1 };
  for (const [type, reader] of formsOf(value)) {
    const trail: Trail = { loc: [], detail: [], score: 0 };
    reader(value, trail);
    const { detail, score = 0 } = trail;
    if (detail.length === 0 && score > found.score) found = { type, score };
  }
  return found.type;
}

/** Reads one item of the input of a request. An item without `type` is read by the form that fits best. */
export const readInputItem: Reader<ResponseInputItem> = (value, trail) => {
  if (!isObject(value) || value["type"] !== undefined) return readOutputItem(value, trail);
  if (isShortMessage(value)) return easyMessage(value, trail);
  const readers = formsOf(value).map(([, reader]) => reader);
  return best<ResponseInputItem>(value, trail, readers);
};

/** Whether this is the most common item, for which no other form needs to be tried. */
function isShortMessage({ role, content, ...rest }: JsonObject): boolean {
  const isRole = role === "user" || role === "assistant" || role === "system" || role === "developer";
  return isRole && typeof content === "string" && Object.keys(rest).length === 0;
}
