import {
  bareReasoningCompletion,
  buildVllmChatBody,
  contextOverflowCompletion,
  endsInBareReasoning,
  insertAudio,
  isContextOverflow,
  takeAudio,
  tokenizeBody,
  type VllmChatBody,
  type VllmSettings,
} from "../../libraries/vllm/chat-body.ts";
import type { JsonObject } from "../../src/base/python/json/json-object.ts";
import { toPlainNumbers } from "../../src/base/python/numbers/py-float.ts";
import { convertChatCompletion } from "../../src/wire/convert/convert-chat-to-responses.ts";
import { convertResponsesToChat } from "../../src/wire/convert/convert-responses-to-chat.ts";
import { mergeReasoning } from "../../src/wire/convert/merge-reasoning.ts";
import type { ChatCompletion, ChatCreateParams } from "../../src/wire/schemas/chat-types.ts";
import { parseCreateParams } from "../../src/wire/schemas/responses.ts";
import { attachTokens, findTokens } from "../../src/wire/tokens/vllm-tokens.ts";
import { checkCompletion, checkRequestForChat, itemOptions, readChatParams } from "./original.ts";
import { parseChatCompletion } from "./original-schemas.ts";

export interface VllmCaseInput {
  /** A chat request, or … */
  request?: JsonObject;
  /** … a Responses request that is converted first. */
  request_responses?: JsonObject;
  config?: Partial<VllmSettings>;
  upstream?: JsonObject;
  upstream_error?: { status: number; body: string };
  tokenize_tokens?: number[];
}

/** The response of the engine for cases that do not depend on it. */
const PLAIN_ANSWER = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "served-model",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }],
};

const settingsOf = (input: VllmCaseInput): VllmSettings => ({
  model: "served-model",
  return_token_id_information: false,
  uses_reasoning_parser: true,
  ...(toPlainNumbers(input.config ?? {}) as Partial<VllmSettings>),
});

function chatRequest(input: VllmCaseInput, settings: VllmSettings): ChatCreateParams {
  if (input.request !== undefined) return readChatParams(input.request);
  const params = checkRequestForChat(parseCreateParams(input.request_responses));
  return convertResponsesToChat(params, itemOptions(settings));
}

export function outboundBody(input: VllmCaseInput): VllmChatBody {
  const settings = settingsOf(input);
  const request = chatRequest(input, settings);
  const body = buildVllmChatBody(request, settings);
  checkHistory(request, settings);
  const { sources, metadata } = takeAudio(request.metadata);
  if (sources.length === 0) return body;
  const urls = sources.map((source) => {
    if (source.kind === "data") return source.url;
    throw new Error(`a case carries no files: ${source.path}`);
  });
  const { metadata: _, ...rest } = body;
  const heard = { ...rest, messages: insertAudio(body.messages, urls) } as VllmChatBody;
  return metadata === undefined ? heard : { ...heard, metadata };
}

/** One call to a scripted engine, from the request to the client's response. */
export function callVllm(input: VllmCaseInput): { result: unknown; tokenize_request?: JsonObject } {
  const settings = settingsOf(input);
  const body = outboundBody(input);
  if (settings.sequential_reasoning_allowed === false && endsInBareReasoning(body.messages)) {
    return { result: toClient(bareReasoningCompletion(settings.model), input, settings) };
  }
  const failure = input.upstream_error;
  if (failure != null) {
    if (!isContextOverflow(failure.status, failure.body))
      throw new Error(`engine answered ${failure.status}`);
    return { result: toClient(contextOverflowCompletion(settings.model), input, settings) };
  }
  const answer = mergeReasoning((input.upstream ?? PLAIN_ANSWER) as unknown as ChatCompletion, settings);
  if (!settings.return_token_id_information)
    return { result: toClient(parseChatCompletion(answer), input, settings) };
  const found = findTokens(answer);
  const result = toClient(
    parseChatCompletion(attachTokens(answer, found, input.tokenize_tokens)),
    input,
    settings,
  );
  return found.kind === "complete" ? { result } : { result, tokenize_request: tokenizeBody(body) };
}

/** Rejects histories on which the original fails. */
function checkHistory({ messages }: ChatCreateParams, settings: VllmSettings): void {
  const last = messages.at(-1);
  const isReadable = last !== undefined && (last.role !== "assistant" || last.content !== undefined);
  if (settings.sequential_reasoning_allowed === false && !isReadable)
    throw new Error("no last turn to look at");
  const { uses_reasoning_parser: parses, preserve_reasoning_in_assistant_content: preserves } = settings;
  if (!parses || preserves) return;
  for (const { role, content } of messages) {
    const parts = role === "assistant" && Array.isArray(content) ? content : [];
    if (parts.some((part) => part.type === "refusal")) throw new Error("a refusal holds no thoughts");
  }
}

function toClient(completion: ChatCompletion, input: VllmCaseInput, settings: VllmSettings): unknown {
  if (input.request_responses === undefined) return completion;
  const request = { ...parseCreateParams(input.request_responses), model: settings.model };
  return convertChatCompletion(checkCompletion(completion), request, itemOptions(settings));
}
