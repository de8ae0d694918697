import type { JsonObject } from "../../base/python/json/door.ts";

/** Text in a message. */
export interface AnthropicTextBlock {
  type: "text";
  text: string;
}

/** An inline image in a message. */
export interface AnthropicImageBlock {
  type: "image";
  source: { type: "base64"; media_type: AnthropicImageType; data: string };
}

/** The image types that the Messages API accepts. */
export const ANTHROPIC_IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
/** A media type that the Messages API accepts for images. */
export type AnthropicImageType = (typeof ANTHROPIC_IMAGE_TYPES)[number];

/** A tool call of the model. */
export interface AnthropicToolUseBlock {
  type: "tool_use";
  id: string;
  name: string;
  input: JsonObject;
}

/** The output of a tool. */
export interface AnthropicToolResultBlock {
  type: "tool_result";
  tool_use_id: string;
  content: string | (AnthropicTextBlock | AnthropicImageBlock)[];
}

/** Reasoning with the signature of the provider. */
export interface AnthropicThinkingBlock {
  type: "thinking";
  thinking: string;
  signature: string;
}

/** Reasoning that only the provider can read. */
export interface AnthropicRedactedThinkingBlock {
  type: "redacted_thinking";
  data: string;
}

/** One block of a message in a request. */
export type AnthropicBlock =
  | AnthropicTextBlock
  | AnthropicImageBlock
  | AnthropicToolUseBlock
  | AnthropicToolResultBlock
  | AnthropicThinkingBlock
  | AnthropicRedactedThinkingBlock;

/** One turn of a request. */
export interface AnthropicMessageParam {
  role: "user" | "assistant";
  content: AnthropicBlock[];
}

/** A tool that the model may use. */
export interface AnthropicTool {
  name: string;
  input_schema: { type: "object"; [key: string]: unknown };
  description?: string;
}

/** Whether the model must use a tool, and which one. */
export type AnthropicToolChoice = (
  | { type: "auto" }
  | { type: "any" }
  | { type: "none" }
  | { type: "tool"; name: string }
) & { disable_parallel_tool_use?: boolean };

/** A Messages request to a backend. `extra_body` settings may add keys. */
export interface AnthropicRequest {
  model: string;
  max_tokens: number;
  messages: AnthropicMessageParam[];
  system?: AnthropicTextBlock[];
  temperature?: number;
  top_p?: number;
  tools?: AnthropicTool[];
  tool_choice?: AnthropicToolChoice;
  thinking?: AnthropicThinking;
  output_config?: { format?: { type: "json_schema"; schema: JsonObject }; [key: string]: unknown };
}

/** Whether the model thinks, and how much. */
export type AnthropicThinking = { type: "enabled"; budget_tokens: number } | { type: "disabled" };

/** One block of an answer. */
export type AnthropicOutputBlock =
  | AnthropicTextBlock
  | AnthropicThinkingBlock
  | AnthropicRedactedThinkingBlock
  | AnthropicToolUseBlock;

/** A Messages answer for clients. Fields without a value are left out. */
export interface AnthropicMessage {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: AnthropicOutputBlock[];
  stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal";
  stop_sequence?: string;
  usage: { input_tokens: number; output_tokens: number };
}
