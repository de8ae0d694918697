import type { JsonObject } from "../../base/python/json/door.ts";
import type { TokenInformation } from "./item-types.ts";

/** Text in a chat message. */
export interface ChatTextPart {
  type: "text";
  text: string;
}

/** An image in a user message, by link or data URL. */
export interface ChatImagePart {
  type: "image_url";
  image_url: { url: string; detail?: "auto" | "low" | "high" };
}

/** A video in a user message (extension of vLLM). */
export interface ChatVideoPart {
  type: "video_url";
  video_url: string | { url: string };
}

/** Audio in a user message, by link (extension of vLLM). */
export interface ChatAudioUrlPart {
  type: "audio_url";
  audio_url: { url: string };
}

/** Inline audio in a user message. */
export interface ChatInputAudioPart {
  type: "input_audio";
  input_audio: { data: string; format: "wav" | "mp3" };
}

/** A file in a user message. */
export interface ChatFilePart {
  type: "file";
  file: { file_data?: string; file_id?: string; filename?: string };
}

/** A refusal of the model. */
export interface ChatRefusalPart {
  type: "refusal";
  refusal: string;
}

/** One part of a user message. Video and audio links are extensions of vLLM. */
export type ChatUserPart =
  | ChatTextPart
  | ChatImagePart
  | ChatVideoPart
  | ChatAudioUrlPart
  | ChatInputAudioPart
  | ChatFilePart;

/** A function call of the model. */
export interface ChatFunctionCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** A call of a custom tool with free text. */
export interface ChatCustomCall {
  id: string;
  type: "custom";
  custom: { name: string; input: string };
}

/** A tool call of the model. */
export type ChatToolCall = ChatFunctionCall | ChatCustomCall;

/** A system or developer message. */
export interface ChatInstructionMessage {
  role: "system" | "developer";
  content: string | ChatTextPart[];
  name?: string;
}

/** A user message. */
export interface ChatUserMessage {
  role: "user";
  content: string | ChatUserPart[];
  name?: string;
}

/** A message of the model, with its reasoning and its tool calls. */
export interface ChatAssistantMessage extends Partial<TokenInformation> {
  role: "assistant";
  content?: string | (ChatTextPart | ChatRefusalPart)[] | null;
  tool_calls?: ChatToolCall[];
  refusal?: string | null;
  name?: string;
  /** The reasoning, if the engine reports it separately. Engines use either of the two names. */
  reasoning_content?: string | null;
  reasoning?: string | null;
  /** The call of older clients and engines without `tool_calls`. */
  function_call?: { name: string; arguments: string } | null;
}

/** The output of a tool. */
export interface ChatToolMessage {
  role: "tool";
  content: string | ChatTextPart[];
  tool_call_id: string;
}

/** One turn of a chat conversation. */
export type ChatMessage = ChatInstructionMessage | ChatUserMessage | ChatAssistantMessage | ChatToolMessage;

/** A function that the model may call. */
export interface ChatFunctionTool {
  type: "function";
  function: { name: string; description?: string; parameters?: JsonObject; strict?: boolean | null };
}

/** A custom tool that the model may call. */
export interface ChatCustomTool {
  type: "custom";
  custom: { name: string; description?: string; format?: JsonObject };
}

/** A tool that the model may call. */
export type ChatTool = ChatFunctionTool | ChatCustomTool;

/** Whether the model must call a tool, and which one. */
export type ChatToolChoice =
  | "none"
  | "auto"
  | "required"
  | { type: "function"; function: { name: string } }
  | { type: "custom"; custom: { name: string } };

/** The body of `POST /v1/chat/completions`. An absent key was not set. */
export interface ChatCreateParams {
  messages: ChatMessage[];
  model?: string | null;
  audio?: JsonObject | null;
  frequency_penalty?: number | null;
  logit_bias?: Record<string, number> | null;
  logprobs?: boolean | null;
  max_completion_tokens?: number | null;
  max_tokens?: number | null;
  metadata?: Record<string, string> | null;
  modalities?: ("text" | "audio")[] | null;
  n?: number | null;
  parallel_tool_calls?: boolean;
  prediction?: JsonObject | null;
  presence_penalty?: number | null;
  reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max" | null;
  response_format?: JsonObject | null;
  seed?: number | null;
  service_tier?: "auto" | "default" | "flex" | "scale" | "priority" | null;
  stop?: string | string[] | null;
  store?: boolean | null;
  stream?: false | null;
  stream_options?: { include_obfuscation?: boolean; include_usage?: boolean } | null;
  temperature?: number | null;
  tool_choice?: ChatToolChoice | null;
  tools?: ChatTool[] | null;
  top_logprobs?: number | null;
  top_p?: number | null;
  user?: string | null;
  web_search_options?: JsonObject | null;
}

/** One generated token and its log-probability. */
export interface ChatTokenLogprob {
  token: string;
  logprob: number;
  bytes?: number[] | null;
  top_logprobs?: unknown[];
}

/** One answer of a completion. */
export interface ChatChoice {
  index: number;
  finish_reason: string | null;
  message: ChatAssistantMessage;
  logprobs?: { content?: ChatTokenLogprob[] | null } | null;
  /** vLLM: token ids of the generated text. */
  token_ids?: number[] | null;
}

/** The answer of a chat endpoint. Unknown keys are kept. */
export interface ChatCompletion {
  id: string;
  created: number;
  model: string;
  object?: "chat.completion";
  choices: ChatChoice[];
  usage?: JsonObject | null;
  /** vLLM: token ids of the prompt. */
  prompt_token_ids?: number[] | null;
}
