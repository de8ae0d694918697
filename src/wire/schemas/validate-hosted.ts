import type { JsonObject } from "../../python/json/json-object.ts";
import type { HostedItemType } from "./item-types.ts";
import {
  anything,
  at,
  bool,
  byType,
  either,
  type Fields,
  float,
  int,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Reader,
  record,
  str,
  stringRecord,
} from "./readers.ts";

const id = optional(nullable(str));
const maybeText = optional(nullable(str));
const type = optional(str);
const status = oneOf("in_progress", "completed", "incomplete");

const texts = optional(nullable(list(str)));
const searchSource = object({ type: oneOf("url"), url: str }, "keep");
const searchAction = either<unknown>(
  object(
    {
      type: oneOf("search"),
      query: maybeText,
      queries: texts,
      sources: optional(nullable(list(searchSource))),
    },
    "keep",
  ),
  object({ type: oneOf("open_page"), url: maybeText }, "keep"),
  object({ type: oneOf("find_in_page"), pattern: str, url: str }, "keep"),
);
const point: Fields = { x: int, y: int };
const keys = texts;
const computerAction = either<unknown>(
  object(
    { type: oneOf("click"), button: oneOf("left", "right", "wheel", "back", "forward"), ...point, keys },
    "keep",
  ),
  object({ type: oneOf("double_click", "move"), ...point, keys }, "keep"),
  object({ type: oneOf("drag"), path: list(object(point, "keep")), keys }, "keep"),
  object({ type: oneOf("keypress"), keys: list(str) }, "keep"),
  object({ type: oneOf("screenshot", "wait") }, "keep"),
  object({ type: oneOf("scroll"), scroll_x: int, scroll_y: int, ...point, keys }, "keep"),
  object({ type: oneOf("type"), text: str }, "keep"),
);
const safetyCheck = object({ id: str, code: maybeText, message: maybeText }, "keep");
const shellAction = object(
  {
    type: oneOf("exec"),
    command: list(str),
    env: stringRecord,
    timeout_ms: optional(nullable(int)),
    user: maybeText,
    working_directory: maybeText,
  },
  "keep",
);
const interpreterOutput = either<unknown>(
  object({ type: oneOf("logs"), logs: str }, "keep"),
  object({ type: oneOf("image"), url: str }, "keep"),
);
const screenshot = object(
  { type: oneOf("computer_screenshot"), file_id: maybeText, image_url: maybeText },
  "keep",
);

const plainValue = either<unknown>(str, float);
const attributes: Reader<JsonObject> = (value, trail) => {
  const given = record(value, trail);
  for (const name of Object.keys(given ?? {})) at(name, plainValue, given[name], trail);
  return given;
};
const searchResult = object(
  {
    attributes: optional(nullable(attributes)),
    file_id: maybeText,
    filename: maybeText,
    score: optional(nullable(float)),
    text: maybeText,
  },
  "keep",
);
const caller = optional(
  nullable(
    byType<unknown>({
      direct: object({ type: str }, "keep"),
      program: object({ caller_id: str, type: str }, "keep"),
    }),
  ),
);
const prompt_cache_breakpoint = optional(nullable(object({ mode: oneOf("explicit") }, "keep")));
const customOutputPart = byType<unknown>({
  input_text: object({ text: str, type: str, prompt_cache_breakpoint }, "keep"),
  input_image: object(
    {
      detail: oneOf("low", "high", "auto", "original"),
      type: str,
      file_id: maybeText,
      image_url: maybeText,
      prompt_cache_breakpoint,
    },
    "keep",
  ),
  input_file: object(
    {
      type: str,
      detail: optional(nullable(oneOf("auto", "low", "high"))),
      file_data: maybeText,
      file_id: maybeText,
      file_url: maybeText,
      filename: maybeText,
      prompt_cache_breakpoint,
    },
    "keep",
  ),
});

/** The fields of the items hosted tools make or are answered with; ids are looser than the API's own schema. */
export const hostedFields: Record<HostedItemType, Fields> = {
  mcp_call: {
    arguments: str,
    name: str,
    id,
    server_label: maybeText,
    approval_request_id: maybeText,
    error: maybeText,
    output: maybeText,
    status: maybeText,
    type,
  },
  mcp_list_tools: { id, server_label: maybeText, tools: optional(list(anything)), error: maybeText, type },
  mcp_approval_request: { arguments: str, name: str, id, server_label: maybeText, type },
  mcp_approval_response: { approval_request_id: str, approve: bool, id, reason: maybeText },
  file_search_call: {
    id: str,
    queries: list(str),
    status: oneOf("in_progress", "searching", "completed", "incomplete", "failed"),
    results: optional(nullable(list(searchResult))),
  },
  web_search_call: {
    id: str,
    action: searchAction,
    status: oneOf("in_progress", "searching", "completed", "failed"),
  },
  computer_call: {
    id: str,
    call_id: str,
    pending_safety_checks: list(safetyCheck),
    status,
    action: optional(nullable(computerAction)),
    actions: optional(nullable(list(computerAction))),
  },
  computer_call_output: {
    call_id: str,
    output: screenshot,
    id,
    acknowledged_safety_checks: optional(nullable(list(safetyCheck))),
    status: optional(nullable(status)),
  },
  image_generation_call: {
    id: str,
    status: oneOf("in_progress", "completed", "generating", "failed"),
    result: maybeText,
  },
  code_interpreter_call: {
    id: str,
    container_id: str,
    status: oneOf("in_progress", "completed", "incomplete", "interpreting", "failed"),
    code: maybeText,
    outputs: optional(nullable(list(interpreterOutput))),
  },
  local_shell_call: { id: str, call_id: str, action: shellAction, status },
  local_shell_call_output: { id: str, output: str, status: optional(nullable(status)) },
  custom_tool_call: { call_id: str, input: str, name: str, id, caller, namespace: maybeText },
  custom_tool_call_output: { call_id: str, output: either<unknown>(str, list(customOutputPart)), id, caller },
};
