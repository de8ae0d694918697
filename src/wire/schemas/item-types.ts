/** The token ids and log-probabilities of one model call, carried by the last item the call produced. */
export interface TokenInformation {
  prompt_token_ids: number[];
  generation_token_ids: number[];
  generation_log_probs: number[];
  routed_experts?: unknown;
}

/** How far an item has come. */
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

/** A video for the model; exactly one of the two keys is set. */
export interface InputVideo {
  type: "input_video";
  video_url?: string | { url: string };
  video?: string | { url: string };
}

/** One part of the input of a user or a tool. */
export type InputPart = InputText | InputImage | InputFile | InputVideo;

/** Text the model wrote. */
export interface OutputText {
  type: "output_text";
  text: string;
  annotations: Record<string, unknown>[];
  logprobs?: Record<string, unknown>[] | null;
}

/** The model declining to answer. */
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

/** A message the model produced. */
export interface OutputMessage extends Partial<TokenInformation> {
  type?: "message";
  id: string;
  role?: "assistant";
  status?: ItemStatus;
  content: OutputPart[];
}

/** A function the model wants called; `arguments` is JSON text as the model wrote it. */
export interface FunctionCall extends Partial<TokenInformation> {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
  id?: string | null;
  status?: ItemStatus | null;
}

/** The output of a called function. */
export interface FunctionCallOutput extends Partial<TokenInformation> {
  type: "function_call_output";
  call_id: string;
  output: string | InputPart[];
  id?: string | null;
  status?: ItemStatus | null;
}

/** One block of thought. */
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

/** The item types of calls of hosted tools. */
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

/** The item types a hosted tool makes or is answered with; they pass through to Responses-native backends only. */
export const HOSTED_ITEM_TYPES = [
  ...HOSTED_CALL_TYPES,
  "computer_call_output",
  "custom_tool_call_output",
  "local_shell_call_output",
  "mcp_approval_response",
] as const;

/** The type of an item that a hosted tool makes or is answered with. */
export type HostedItemType = (typeof HOSTED_ITEM_TYPES)[number];

/** A hosted tool's item, kept with every field it came with. */
export interface HostedItem extends Partial<TokenInformation> {
  type: HostedItemType;
  [key: string]: unknown;
}

/** An input item without `type` that is not a message, such as a chat-shaped tool turn; kept verbatim. */
export interface UntypedItem extends Partial<TokenInformation> {
  type?: undefined;
  [key: string]: unknown;
}

/** An item of a response's `output`. */
export type ResponseOutputItem =
  | OutputMessage
  | EasyMessage
  | FunctionCall
  | FunctionCallOutput
  | Reasoning
  | HostedItem;

/** An item of a request's `input`. */
export type ResponseInputItem = ResponseOutputItem | UntypedItem;

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
