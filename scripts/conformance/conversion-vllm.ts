import type { ChatCompletion, ChatCreateParams } from "../../src/openai/chat-types.ts";
import { convertChatCompletion } from "../../src/openai/convert-chat-completion.ts";
import { convertResponsesToChat } from "../../src/openai/convert-responses-to-chat.ts";
import { isObject, type JsonObject } from "../../src/openai/readers.ts";
import { parseCreateParams } from "../../src/openai/responses.ts";
import { parseChatCompletion, parseChatParams } from "../../src/openai/validate-chat.ts";
import { insertAudio, takeAudio } from "../../src/openai/vllm-audio.ts";
import {
  bareReasoningCompletion,
  contextOverflowCompletion,
  isContextOverflow,
  mergeReasoning,
} from "../../src/openai/vllm-completion.ts";
import {
  buildVllmChatBody,
  endsInBareReasoning,
  tokenizeBody,
  type VllmChatBody,
  type VllmSettings,
} from "../../src/openai/vllm-request.ts";
import { attachTokens, findTokens } from "../../src/openai/vllm-tokens.ts";

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

/** What the engine says where a case does not care. */
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
  ...input.config,
});

function chatRequest(input: VllmCaseInput, settings: VllmSettings): ChatCreateParams {
  if (input.request !== undefined) return parseChatParams(input.request);
  return convertResponsesToChat(parseCreateParams(input.request_responses), {
    returnTokenIds: settings.return_token_id_information ?? false,
    refuseLikeOriginal: true,
  });
}

export function outboundBody(input: VllmCaseInput): VllmChatBody {
  const settings = settingsOf(input);
  const body = buildVllmChatBody(chatRequest(input, settings), settings);
  const { sources, metadata } = takeAudio(isObject(body["metadata"]) ? body["metadata"] : null);
  if (sources.length === 0) return body;
  const urls = sources.map((source) => (source.kind === "data" ? source.url : source.path));
  const { metadata: _, ...rest } = body;
  const heard = { ...rest, messages: insertAudio(body.messages, urls) } as VllmChatBody;
  return metadata === undefined ? heard : { ...heard, metadata };
}

/** One call to a scripted engine, from the request to the client's answer. */
export function callVllm(input: VllmCaseInput): { result: unknown; tokenize_request?: JsonObject } {
  const settings = settingsOf(input);
  const body = outboundBody(input);
  if (settings.sequential_reasoning_allowed === false && endsInBareReasoning(body.messages)) {
    return { result: toClient(bareReasoningCompletion(settings.model), input, settings) };
  }
  const failure = input.upstream_error;
  if (failure !== undefined) {
    if (!isContextOverflow(failure.status, failure.body))
      throw new Error(`engine answered ${failure.status}`);
    return { result: toClient(contextOverflowCompletion(settings.model), input, settings) };
  }
  let completion = mergeReasoning(parseChatCompletion(input.upstream ?? PLAIN_ANSWER), settings);
  if (!settings.return_token_id_information) return { result: toClient(completion, input, settings) };
  const found = findTokens(completion);
  completion = attachTokens(completion, found, input.tokenize_tokens);
  const result = toClient(completion, input, settings);
  return found.kind === "complete" ? { result } : { result, tokenize_request: tokenizeBody(body) };
}

function toClient(completion: ChatCompletion, input: VllmCaseInput, settings: VllmSettings): unknown {
  if (input.request_responses === undefined) return completion;
  const request = { ...parseCreateParams(input.request_responses), model: settings.model };
  return convertChatCompletion(completion, request, {
    returnTokenIds: settings.return_token_id_information ?? false,
    usesReasoningParser: settings.uses_reasoning_parser ?? true,
  });
}
