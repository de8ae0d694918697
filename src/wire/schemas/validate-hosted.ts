import type { HostedItemType } from "./item-types.ts";
import {
  anything,
  bool,
  byType,
  either,
  type Fields,
  float,
  int,
  list,
  nullish,
  object,
  oneOf,
  optional,
  type Reader,
  recordOf,
  str,
  stringRecord,
} from "./readers.ts";

/** All unknown keys of hosted items are kept. */
const kept = (fields: Fields): Reader<unknown> => object(fields, "keep");

const maybeText = nullish(str);
const id = maybeText;
const type = optional(str);
const status = oneOf("in_progress", "completed", "incomplete");

const texts = nullish(list(str));
const searchSource = kept({ type: oneOf("url"), url: str });
const searchAction = either<unknown>(
  kept({
    type: oneOf("search"),
    query: maybeText,
    queries: texts,
    sources: nullish(list(searchSource)),
  }),
  kept({ type: oneOf("open_page"), url: maybeText }),
  kept({ type: oneOf("find_in_page"), pattern: str, url: str }),
);
const point: Fields = { x: int, y: int };
const keys = texts;
const computerAction = either<unknown>(
  kept({ type: oneOf("click"), button: oneOf("left", "right", "wheel", "back", "forward"), ...point, keys }),
  kept({ type: oneOf("double_click", "move"), ...point, keys }),
  kept({ type: oneOf("drag"), path: list(kept(point)), keys }),
  kept({ type: oneOf("keypress"), keys: list(str) }),
  kept({ type: oneOf("screenshot", "wait") }),
  kept({ type: oneOf("scroll"), scroll_x: int, scroll_y: int, ...point, keys }),
  kept({ type: oneOf("type"), text: str }),
);
const safetyCheck = kept({ id: str, code: maybeText, message: maybeText });
const shellAction = kept({
  type: oneOf("exec"),
  command: list(str),
  env: stringRecord,
  timeout_ms: nullish(int),
  user: maybeText,
  working_directory: maybeText,
});
const interpreterOutput = either<unknown>(
  kept({ type: oneOf("logs"), logs: str }),
  kept({ type: oneOf("image"), url: str }),
);
const screenshot = kept({ type: oneOf("computer_screenshot"), file_id: maybeText, image_url: maybeText });

const attributes = recordOf(either<unknown>(str, float));
const searchResult = kept({
  attributes: nullish(attributes),
  file_id: maybeText,
  filename: maybeText,
  score: nullish(float),
  text: maybeText,
});
const caller = nullish(byType({ direct: { type: str }, program: { caller_id: str, type: str } }, "keep"));
const prompt_cache_breakpoint = nullish(kept({ mode: oneOf("explicit") }));
const customOutputPart = byType(
  {
    input_text: { text: str, type: str, prompt_cache_breakpoint },
    input_image: {
      detail: oneOf("low", "high", "auto", "original"),
      type: str,
      file_id: maybeText,
      image_url: maybeText,
      prompt_cache_breakpoint,
    },
    input_file: {
      type: str,
      detail: nullish(oneOf("auto", "low", "high")),
      file_data: maybeText,
      file_id: maybeText,
      file_url: maybeText,
      filename: maybeText,
      prompt_cache_breakpoint,
    },
  },
  "keep",
);

/** The fields of the items of hosted tools. More ids are optional than in the API's own schema. */
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
    results: nullish(list(searchResult)),
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
    action: nullish(computerAction),
    actions: nullish(list(computerAction)),
  },
  computer_call_output: {
    call_id: str,
    output: screenshot,
    id,
    acknowledged_safety_checks: nullish(list(safetyCheck)),
    status: nullish(status),
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
    outputs: nullish(list(interpreterOutput)),
  },
  local_shell_call: { id: str, call_id: str, action: shellAction, status },
  local_shell_call_output: { id: str, output: str, status: nullish(status) },
  custom_tool_call: { call_id: str, input: str, name: str, id, caller, namespace: maybeText },
  custom_tool_call_output: { call_id: str, output: either<unknown>(str, list(customOutputPart)), id, caller },
};
