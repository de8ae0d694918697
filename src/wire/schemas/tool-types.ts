/** A function offered to the model. Clients such as LangChain leave `strict` out, which means null. */
export interface FunctionTool {
  type: "function";
  name: string;
  parameters: Record<string, unknown> | null;
  strict: boolean | null;
  description?: string | null;
}

/** The hosted tools of the Responses API; only Responses-native backends can serve them. */
export const HOSTED_TOOL_TYPES = [
  "file_search",
  "computer",
  "computer_use_preview",
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
  "mcp",
  "code_interpreter",
  "image_generation",
  "local_shell",
  "custom",
  "namespace",
  "tool_search",
  "programmatic_tool_calling",
  "shell",
  "apply_patch",
] as const;

/** A tool that the provider runs itself. */
export interface HostedTool {
  type: (typeof HOSTED_TOOL_TYPES)[number];
  [key: string]: unknown;
}

/** A tool offered to the model. */
export type Tool = FunctionTool | HostedTool;

/** A tool choice beyond the three words, such as `{type: "function", name}`. */
export interface ToolChoiceObject {
  type: string;
  [key: string]: unknown;
}

/** Whether and which tool the model must call. */
export type ToolChoice = "none" | "auto" | "required" | ToolChoiceObject;
