/** The token ids and log-probabilities of one model call. The last item of the call contains them. */
export interface TokenInformation {
  prompt_token_ids: number[];
  generation_token_ids: number[];
  generation_log_probs: number[];
  routed_experts?: unknown;
}

/** The state of an item. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** Text for the model. */
export interface InputText {
  type: "input_text";
  text: string;
}

/** An image for the model, by link, data URL or file id. */
export interface InputImage {
  type: "input_image";
  image_url?: string | { url: string } | null;
  file_id?: string | null;
  detail?: "low" | "high" | "auto" | "original" | null;
}

/** A file for the model. */
export interface InputFile {
  type: "input_file";
  file_id?: string | null;
  filename?: string;
  file_data?: string | null;
  file_url?: string | null;
}

/** A video for the model. Exactly one of the two keys is set. */
export interface InputVideo {
  type: "input_video";
  video_url?: string | { url: string };
  video?: string | { url: string };
}

/** One part of the input of a user or a tool. */
export type InputPart = InputText | InputImage | InputFile | InputVideo;

/** Text of the model. */
export interface OutputText {
  type: "output_text";
  text: string;
  annotations: Record<string, unknown>[];
  logprobs?: Record<string, unknown>[] | null;
}

/** A refusal of the model. */
export interface OutputRefusal {
  type: "refusal";
  refusal: string;
}

/** One part of the output of a model. */
export type OutputPart = OutputText | OutputRefusal;

/** A message in its short form: any role, string content or input parts. */
export interface EasyMessage extends Partial<TokenInformation> {
  type?: "message";
  role: "user" | "assistant" | "system" | "developer";
  content: string | InputPart[];
}

/** A message of the model. */
export interface OutputMessage extends Partial<TokenInformation> {
  type?: "message";
  id: string;
  role?: "assistant";
  status?: ItemStatus;
  content: OutputPart[];
}

/** A function call of the model. `arguments` is the JSON text that the model wrote. */
export interface FunctionCall extends Partial<TokenInformation> {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
  id?: string | null;
  status?: ItemStatus | null;
}

/** The output of a function. */
export interface FunctionCallOutput extends Partial<TokenInformation> {
  type: "function_call_output";
  call_id: string;
  output: string | InputPart[];
  id?: string | null;
  status?: ItemStatus | null;
}

/** One summary of reasoning. */
export interface SummaryText {
  type: "summary_text";
  text: string;
}

/** The reasoning of a model before its answer. */
export interface Reasoning extends Partial<TokenInformation> {
  type: "reasoning";
  id: string;
  summary: SummaryText[];
  encrypted_content?: string | null;
  content?: { type: "reasoning_text"; text: string }[] | null;
}

/** The types of items for calls of hosted tools. */
export const HOSTED_CALL_TYPES = [
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
] as const;

/** The types of items of hosted tools: calls, outputs and approvals. Only backends with the Responses API accept them. */
export const HOSTED_ITEM_TYPES = [
  ...HOSTED_CALL_TYPES,
  "computer_call_output",
  "custom_tool_call_output",
  "local_shell_call_output",
  "mcp_approval_response",
] as const;

/** The type of an item of a hosted tool. */
export type HostedItemType = (typeof HOSTED_ITEM_TYPES)[number];

/** An item of a hosted tool. All its fields are kept. */
export interface HostedItem extends Partial<TokenInformation> {
  type: HostedItemType;
  [key: string]: unknown;
}

/** An input item without `type` that is not a message, such as a tool turn of a chat. It is kept unchanged. */
export interface UntypedItem extends Partial<TokenInformation> {
  type?: undefined;
  [key: string]: unknown;
}

/** An item in the `output` of a response. */
export type ResponseOutputItem =
  | OutputMessage
  | EasyMessage
  | FunctionCall
  | FunctionCallOutput
  | Reasoning
  | HostedItem;

/** An item in the `input` of a request. */
export type ResponseInputItem = ResponseOutputItem | UntypedItem;

/** A function that the model may call. A missing `strict`, as LangChain sends it, means null. */
export interface FunctionTool {
  type: "function";
  name: string;
  parameters: Record<string, unknown> | null;
  strict: boolean | null;
  description?: string | null;
}

/** The hosted tools of the Responses API. Only backends with this API support them. */
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

/** A tool that the model may call. */
export type Tool = FunctionTool | HostedTool;

/** A tool choice that is an object, such as `{type: "function", name}`. */
export interface ToolChoiceObject {
  type: string;
  [key: string]: unknown;
}

/** Whether the model must call a tool, and which one. */
export type ToolChoice = "none" | "auto" | "required" | ToolChoiceObject;
