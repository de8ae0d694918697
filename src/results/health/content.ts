import { isObject } from "../../python/json/json-object.ts";

const CONTENT_FIELDS = [
  "text",
  "content",
  "output_text",
  "answer",
  "refusal",
  "encrypted_content",
  "reasoning",
  "reasoning_content",
  "summary",
] as const;

const TOOL_CALL_TYPES = new Set([
  "function_call",
  "tool_call",
  "tool_use",
  "mcp_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "file_search_call",
  "web_search_call",
  "computer_call",
  "image_generation_call",
  "code_interpreter_call",
  "local_shell_call",
  "custom_tool_call",
]);

/** Whether a value holds text that a model wrote, at any depth of its content fields. */
export function hasContent(value: unknown): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (Array.isArray(value)) return value.some(hasContent);
  return isObject(value) && CONTENT_FIELDS.some((field) => hasContent(value[field]));
}

/** Whether a value is, or contains, a tool call of a model. */
export function hasToolCall(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasToolCall);
  if (!isObject(value)) return false;
  if (TOOL_CALL_TYPES.has(String(value["type"]))) return true;
  const calls = value["tool_calls"];
  return (Array.isArray(calls) && calls.length > 0) || hasToolCall(value["content"]);
}

/** Whether a saved response of any dialect holds content. */
export function responseHasContent(response: unknown): boolean {
  if (!isObject(response)) return hasContent(response);
  const choices = Array.isArray(response["choices"]) ? response["choices"] : [];
  const messages = choices.map((choice: unknown) =>
    isObject(choice) ? (choice["message"] ?? choice) : choice,
  );
  return hasContent(response) || hasContent(response["output"]) || hasContent(messages);
}
