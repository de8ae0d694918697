import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import {
  HOSTED_ITEM_TYPES,
  type HostedItemType,
  type ResponseInputItem,
  type ResponseOutputItem,
} from "./item-types.ts";
import {
  best,
  byType,
  type Fields,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  str,
  type Trail,
} from "./readers.ts";
import { hostedFields } from "./validate-hosted.ts";
import { inputParts, messageContent, outputParts, toolOutput } from "./validate-parts.ts";
import { readTokens } from "./validate-tokens.ts";

function withTokens<T>(reader: Reader<T>): Reader<T> {
  return (value, trail) => {
    const item = reader(value, trail);
    const tokens = isObject(value) ? readTokens(value, trail) : undefined;
    if (tokens === undefined) return item;
    if (trail.score !== undefined) trail.score += 2 * Object.keys(tokens).length;
    return { ...tokens, ...item };
  };
}

const item = (fields: Fields) => withTokens(object<ResponseOutputItem>(fields, "drop"));

const itemStatus = oneOf("in_progress", "completed", "incomplete");

const easyMessage = item({
  content: messageContent,
  role: oneOf("user", "assistant", "system", "developer"),
  type: optional(oneOf("message")),
});

/** Only this form of what others say has a status. */
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

/** The form that says most about a message is taken. */
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
  id: optional(nullable(str)),
  status: optional(nullable(itemStatus)),
});
const functionCallOutputFields = object<ResponseOutputItem>(
  {
    call_id: str,
    output: toolOutput,
    type: optional(str),
    id: optional(nullable(str)),
    status: optional(nullable(itemStatus)),
  },
  "drop",
);
/** No model wrote what a tool gave back, so its token lists are checked and left out. */
const functionCallOutput: Reader<ResponseOutputItem> = (value, trail) => {
  if (isObject(value)) readTokens(value, trail);
  return functionCallOutputFields(value, trail);
};
// A reasoning item's `status` is dropped: the OpenAI API refuses it when the item is sent back.
const reasoning = item({
  id: str,
  summary: list(summaryText),
  type: optional(str),
  encrypted_content: optional(nullable(str)),
  content: optional(nullable(list(reasoningText))),
});

/** Of these items no model wrote the tokens, so their lists are checked and stay what they are. */
const hosted = Object.fromEntries(
  HOSTED_ITEM_TYPES.map((type): [HostedItemType, Reader<ResponseOutputItem>] => {
    const fields = object<ResponseOutputItem>(hostedFields[type], "keep");
    return [
      type,
      (value, trail) => {
        if (isObject(value)) readTokens(value, trail);
        return fields(value, trail);
      },
    ];
  }),
) as Record<HostedItemType, Reader<ResponseOutputItem>>;

/** Reads one item of a response's output; it must have a known `type`. */
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

/** What an item without `type` can be, in the order that decides where two fit equally well. */
const FORMS = [...tokenForms, outputForm, reasoningForm, ...otherForms];
/** The same for an item with token lists: the forms that carry them come last. */
const FORMS_WITH_TOKENS = [outputForm, ...otherForms, ...tokenForms, reasoningForm];

function formsOf(value: JsonObject): Form[] {
  const forms = value["prompt_token_ids"] === undefined ? FORMS : FORMS_WITH_TOKENS;
  return forms.filter(([, , needs]) => needs.every((name) => value[name] !== undefined));
}

/** The type an item without one is taken for: what fits no other form is taken for a list of MCP tools. */
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

/** Reads one item of a request's input; without a `type` it is what most of it fits, and may keep unknown keys. */
export const readInputItem: Reader<ResponseInputItem> = (value, trail) => {
  if (!isObject(value) || value["type"] !== undefined) return readOutputItem(value, trail);
  if (isShortMessage(value)) return easyMessage(value, trail);
  const readers = formsOf(value).map(([, reader]) => reader);
  return best<ResponseInputItem>(value, trail, readers);
};

/** The most common item of all, for which no other form needs to be tried. */
function isShortMessage({ role, content, ...rest }: JsonObject): boolean {
  const isRole = role === "user" || role === "assistant" || role === "system" || role === "developer";
  return isRole && typeof content === "string" && Object.keys(rest).length === 0;
}
