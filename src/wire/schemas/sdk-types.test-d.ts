/**
 * Compiled, never run: our types against those of the official SDKs. Exceptions are spelled out, because they are where the wire says
 * more than the SDK's types: explicit nulls, video and audio links, hosted items with relaxed ids, untyped items.
 */
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import type { Usage } from "../convert/usage.ts";
import type { AnthropicMessage, AnthropicRequest } from "./anthropic-types.ts";
import type {
  ChatAudioUrlPart,
  ChatCompletion,
  ChatCreateParams,
  ChatMessage,
  ChatVideoPart,
} from "./chat-types.ts";
import type {
  EasyMessage,
  FunctionCall,
  FunctionCallOutput,
  FunctionTool,
  InputFile,
  InputImage,
  InputText,
  OutputMessage,
  Reasoning,
} from "./item-types.ts";
import type { Response, ResponseCreateParams, StoredPrompt, TextOptions } from "./responses.ts";

/** Fails to compile where `From` is not assignable to `To`. */
type Assign<To, From extends To> = [From, To];
/** The SDKs have no explicit nulls in most places of a request. */
type WithoutNulls<T> = { [Key in keyof T]: Exclude<T[Key], null> };
type Replace<T, Changes> = Omit<T, keyof Changes> & Changes;

type Image = Replace<InputImage, { image_url?: string | null; detail: "low" | "high" | "auto" }>;
type Part = InputText | WithoutNulls<InputFile> | Image;
type Item =
  | Replace<EasyMessage, { content: string | Part[] }>
  | Replace<
      OutputMessage,
      { type: "message"; role: "assistant"; status: "completed"; content: SdkOutputPart[] }
    >
  | WithoutNulls<FunctionCall>
  | Replace<WithoutNulls<FunctionCallOutput>, { output: string | Part[] }>
  | WithoutNulls<Reasoning>;
type SdkOutputPart = OpenAI.Responses.ResponseOutputText | OpenAI.Responses.ResponseOutputRefusal;

type Request = Replace<
  ResponseCreateParams,
  {
    input: string | Item[];
    model: string;
    tools?: FunctionTool[];
    tool_choice?: "none" | "auto" | "required";
    user?: string;
    prompt?: Omit<StoredPrompt, "variables"> | null;
    text?: TextOptions;
  }
>;

type ChatText = Exclude<ChatMessage, { role: "user" }>;
type ChatUser = Extract<ChatMessage, { role: "user" }>;
type SdkChatUser = Replace<
  ChatUser,
  {
    content:
      | string
      | Exclude<Exclude<ChatUser["content"], string>[number], ChatVideoPart | ChatAudioUrlPart>[];
  }
>;
/** The SDK names the keys of these objects one by one; we pass them on as they are. */
type PassedOn =
  | "audio"
  | "prediction"
  | "response_format"
  | "web_search_options"
  | "tools"
  | "tool_choice"
  | "messages"
  | "model"
  | "user";
type Chat = Omit<ChatCreateParams, PassedOn> & {
  messages: (ChatText | SdkChatUser)[];
  model: string;
  tools?: Extract<NonNullable<ChatCreateParams["tools"]>[number], { type: "function" }>[];
  tool_choice?: NonNullable<ChatCreateParams["tool_choice"]>;
};

export type Requests = [
  Assign<OpenAI.Responses.ResponseInputItem, Item>,
  Assign<OpenAI.Responses.Tool, FunctionTool>,
  Assign<OpenAI.Responses.ResponseCreateParamsNonStreaming, Request>,
  Assign<OpenAI.Chat.ChatCompletionMessageParam, ChatText | SdkChatUser>,
  Assign<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, Chat>,
  Assign<Anthropic.MessageCreateParamsNonStreaming, AnthropicRequest>,
];

export type Answers = [
  Assign<Usage, OpenAI.Responses.ResponseUsage>,
  Assign<Pick<ChatCompletion, "id" | "created" | "model">, OpenAI.Chat.ChatCompletion>,
  Assign<OpenAI.Responses.Response["tools"][number], FunctionTool>,
  Assign<OpenAI.Responses.ResponseStatus, NonNullable<Response["status"]>>,
  Assign<NonNullable<Anthropic.Message["stop_reason"]>, AnthropicMessage["stop_reason"]>,
  Assign<
    Omit<Anthropic.TextBlock, "citations">,
    Extract<AnthropicMessage["content"][number], { type: "text" }>
  >,
  Assign<Anthropic.ThinkingBlock, Extract<AnthropicMessage["content"][number], { type: "thinking" }>>,
];
