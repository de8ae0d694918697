import { isTruthy } from "../../base/python/door.ts";
import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import type {
  ChatAssistantMessage,
  ChatMessage,
  ChatTextPart,
  ChatToolCall,
  ChatUserPart,
} from "../schemas/chat-types.ts";
import type {
  FunctionCallOutput,
  Reasoning,
  ResponseInputItem,
  TokenInformation,
} from "../schemas/item-types.ts";
import { wordOf } from "../schemas/readers.ts";
import { badValue, type OnLoss, textAt, unsupported } from "./conversion-loss.ts";
import { wrapInThinkTags } from "./think-tags.ts";

export interface ChatTurnsOptions {
  returnTokenIds?: boolean;
  onLoss?: OnLoss;
}

interface Turn {
  text: string;
  calls: ChatToolCall[];
  /** Whether the turn already has a text or a call. The position of later text is then lost. */
  spoken: boolean;
}

/** Converts items to chat messages. Consecutive items of the assistant become one message. */
export class ChatTurns {
  readonly #messages: ChatMessage[] = [];
  readonly #keepTokens: boolean;
  readonly #onLoss: OnLoss | undefined;
  /** The turn of the assistant that is being collected. */
  #turn: Turn | undefined;
  #tokens: TokenInformation | undefined;

  constructor({ returnTokenIds = false, onLoss }: ChatTurnsOptions) {
    this.#keepTokens = returnTokenIds;
    this.#onLoss = onLoss;
  }

  addUserText(text: string): void {
    this.#flush();
    this.#messages.push({ role: "user", content: [{ type: "text", text }] });
  }

  add(item: ResponseInputItem, index: number): void {
    const type = item.type ?? ("role" in item && item["role"] ? "message" : undefined);
    switch (type) {
      case "message":
        this.#addMessage(item as unknown as JsonObject, index);
        break;
      case "reasoning":
        this.#addReasoning(item as Reasoning, index);
        break;
      case "function_call": {
        const {
          call_id,
          name,
          arguments: text,
        } = item as { call_id: string; name: string; arguments: string };
        const turn = this.#open();
        turn.spoken = true;
        turn.calls.push({ id: call_id, type: "function", function: { name, arguments: text } });
        break;
      }
      case "function_call_output":
        this.#addToolOutput(item as FunctionCallOutput, index);
        break;
      default:
        unsupported(
          `input.${index}: ${type === undefined ? "an item without type and role" : `'${type}'`} has no form in chat ` +
            "requests; send it to a backend that speaks the Responses API",
        );
    }
    if (this.#keepTokens && item.prompt_token_ids !== undefined) this.#tokens = tokensOf(item);
  }

  finish(): ChatMessage[] {
    this.#flush();
    return this.#messages;
  }

  #addMessage(item: JsonObject, index: number): void {
    const { role, content } = item;
    if (role === "assistant") {
      this.#addAssistant(item, index);
      return;
    }
    this.#flush();
    switch (role) {
      case "user":
        this.#messages.push({ role, content: userContent(content, index) });
        break;
      case "system":
      case "developer":
        this.#messages.push({ role, content: userContent(content, index) as string | ChatTextPart[] });
        break;
      case "tool":
        this.#messages.push({
          role,
          content: toolContent(content, index, true),
          tool_call_id: textAt(item, "tool_call_id", `input.${index}`),
        });
        break;
      default:
        unsupported(`input.${index}: messages of role '${wordOf(role)}' have no form in chat requests`);
    }
  }

  #addAssistant(item: JsonObject, index: number): void {
    const turn = this.#join(index);
    turn.spoken = true;
    const { content, tool_calls: calls } = item;
    if (Array.isArray(content)) {
      for (const part of content) {
        const text = isObject(part) ? part["text"] : null;
        if (text !== undefined && typeof text !== "string") badValue(`input.${index}.content holds no parts`);
        if (text !== undefined) turn.text += text;
        else this.#onLoss?.({ field: `input.${index}.content`, reason: "only text parts can be converted" });
        if (isObject(part) && Array.isArray(part["annotations"]) && part["annotations"].length > 0) {
          this.#onLoss?.({
            field: `input.${index}.content.annotations`,
            reason: "chat text has no annotations",
          });
        }
      }
    } else if (typeof content === "string") turn.text += content;
    else if (content != null) badValue(`input.${index}.content must be text or a list of parts`);
    if (isTruthy(calls) && !Array.isArray(calls)) badValue(`input.${index}.tool_calls must be a list`);
    for (const call of Array.isArray(calls) ? calls : []) turn.calls.push(chatCall(call, index));
  }

  #open(): Turn {
    this.#turn ??= { text: "", calls: [], spoken: false };
    return this.#turn;
  }

  /** Reports that the position of a text is lost: the message of a turn has its whole text first and then its calls. */
  #join(index: number): Turn {
    const turn = this.#open();
    if (turn.spoken)
      this.#onLoss?.({
        field: `input.${index}`,
        reason: "texts that follow a text or a call of the same turn are joined to it",
      });
    return turn;
  }

  #addReasoning(item: Reasoning, index: number): void {
    this.#join(index).text += wrapInThinkTags((item.summary ?? []).map((summary) => summary.text));
    if (item.encrypted_content) {
      this.#onLoss?.({ field: `input.${index}.encrypted_content`, reason: "think blocks carry only text" });
    }
    if (item.content && item.content.length > 0) {
      this.#onLoss?.({
        field: `input.${index}.content`,
        reason: "only the summaries of reasoning are sent back",
      });
    }
  }

  #addToolOutput(item: FunctionCallOutput, index: number): void {
    this.#flush();
    const content = toolContent(item.output, index);
    this.#messages.push({ role: "tool", content, tool_call_id: item.call_id });
  }

  #flush(): void {
    if (this.#turn !== undefined) {
      const { text, calls } = this.#turn;
      const message: ChatAssistantMessage = { role: "assistant", content: text === "" ? null : text };
      if (calls.length > 0) message.tool_calls = calls;
      this.#messages.push(Object.assign(message, this.#tokens));
    }
    this.#turn = undefined;
    this.#tokens = undefined;
  }
}

function tokensOf(item: Partial<TokenInformation>): TokenInformation {
  const {
    prompt_token_ids = [],
    generation_token_ids = [],
    generation_log_probs = [],
    routed_experts,
  } = item;
  const tokens = { prompt_token_ids, generation_token_ids, generation_log_probs };
  return routed_experts === undefined ? tokens : { ...tokens, routed_experts };
}

function chatCall(call: unknown, index: number): ChatToolCall {
  const definition = isObject(call) ? call["function"] : undefined;
  if (!isObject(call) || !isObject(definition)) badValue(`input.${index}.tool_calls holds no function call`);
  return {
    id: textAt(call, "id", `input.${index}`),
    type: "function",
    function: {
      name: textAt(definition, "name", `input.${index}`),
      arguments: textAt(definition, "arguments", `input.${index}`),
    },
  };
}

/** Tool messages of a chat contain only text. */
function toolContent(output: unknown, index: number, takesChatParts = false): string | ChatTextPart[] {
  if (typeof output === "string") return output;
  if (!Array.isArray(output)) badValue(`input.${index}: a tool's output must be text or a list of parts`);
  return output.map((part: unknown): ChatTextPart => {
    const isText = typeOf(part) === "input_text" || (takesChatParts && typeOf(part) === "text");
    if (isText && isObject(part) && typeof part["text"] === "string") {
      return { type: "text", text: part["text"] };
    }
    return unsupported(`input.${index}: chat tool messages cannot hold '${typeOf(part)}' parts, only text`);
  });
}

const typeOf = (part: unknown) => (isObject(part) ? wordOf(part["type"]) : typeof part);

function userContent(content: unknown, index: number): string | ChatUserPart[] {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) badValue(`input.${index}.content must be text or a list of parts`);
  return content.map((part: unknown) => userPart(isObject(part) ? part : {}, index));
}

function userPart(part: JsonObject, index: number): ChatUserPart {
  switch (part["type"]) {
    case "input_text":
      return { type: "text", text: textAt(part, "text", `input.${index}`) };
    case "input_image": {
      const { detail = "auto" } = part;
      if (!isChatDetail(detail)) badValue(`input.${index}: chat images have the detail auto, low or high`);
      return { type: "image_url", image_url: { url: urlOf(part["image_url"], "image_url", index), detail } };
    }
    case "input_video": {
      const name = part["video_url"] === undefined ? "video" : "video_url";
      if (part["video_url"] !== undefined && part["video"] !== undefined)
        badValue(`input.${index}: give one of video_url and video, not both`);
      return { type: "video_url", video_url: { url: urlOf(part[name], name, index) } };
    }
    default:
      return unsupported(`input.${index}: '${typeOf(part)}' parts have no form in chat requests`);
  }
}

const isChatDetail = (detail: unknown): detail is "auto" | "low" | "high" =>
  detail === "auto" || detail === "low" || detail === "high";

function urlOf(value: unknown, name: string, index: number): string {
  const url = isObject(value) ? value["url"] : value;
  return typeof url === "string" && url !== "" ? url : badValue(`input.${index}: ${name} must not be empty`);
}
