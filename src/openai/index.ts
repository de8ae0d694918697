/**
 * The wire formats of language models: the Responses API that all servers speak, Chat Completions and Anthropic Messages, the conversions
 * between them, their streams, and the token ids that training needs.
 *
 * @module
 */
export { accumulateUsage, sumUsage } from "./accumulate-usage.ts";
export type * from "./anthropic-types.ts";
export { assembleStream } from "./assemble-stream.ts";
export type * from "./chat-types.ts";
export { ConversionError, type ConversionFailure, type Loss, type OnLoss } from "./conversion-loss.ts";
export { convertAnthropicMessage, type FromAnthropicMessageOptions } from "./convert-anthropic-message.ts";
export { convertAnthropicRequest, type FromAnthropicOptions } from "./convert-anthropic-request.ts";
export { convertChatCompletion } from "./convert-chat-completion.ts";
export { convertChatRequest } from "./convert-chat-request.ts";
export {
  type AssistantItem,
  assistantMessageToItems,
  type ChatItem,
  type ChatToItemsOptions,
  chatMessagesToItems,
} from "./convert-chat-to-items.ts";
export { convertResponsesToChat, type ResponsesToChatOptions } from "./convert-responses-to-chat.ts";
export { convertToAnthropicMessage, type ToAnthropicMessageOptions } from "./convert-to-anthropic-message.ts";
export { convertToAnthropicRequest, type ToAnthropicRequestOptions } from "./convert-to-anthropic-request.ts";
export { countingIds, type IdPrefix, type NewId, newId } from "./ids.ts";
export { laxBool, laxFloat, laxInt, strictStr } from "./lax.ts";
export {
  type MaterializedCreateParams,
  type MaterializedResponse,
  materializeCreateParams,
  materializeItem,
  materializeResponse,
} from "./materialize.ts";
export { stripMcpPrefix } from "./mcp-tool-name.ts";
export { type NormalizedUsage, normalizeUsage } from "./normalize-usage.ts";
export {
  functionCallOutputs,
  functionCalls,
  type HasOutput,
  type LastItemText,
  lastAssistantText,
  lastItemText,
  outputText,
  type ParsedArguments,
  parseArguments,
  readLastItem,
} from "./read-output.ts";
export { replayAnthropicFailure, replayAnthropicMessage } from "./replay-anthropic.ts";
export { type ReplayChatOptions, replayChatCompletion } from "./replay-chat.ts";
export { type ReplayResponseOptions, replayResponse, replayResponseFailure } from "./replay-responses.ts";
export { type EnvelopeOptions, responseEnvelope } from "./response-envelope.ts";
export * from "./responses.ts";
export { rolloutIdOf } from "./rollout-id.ts";
export { type RandomSource, sampleSchema } from "./sample-schema.ts";
export {
  type SanitizeChatOptions,
  type SanitizedChatRequest,
  sanitizeStreamingChat,
} from "./sanitize-streaming-chat.ts";
export {
  type NamespaceMap,
  parseSanitizedParams,
  type SanitizedRequest,
  sanitizeStreamingResponses,
} from "./sanitize-streaming-responses.ts";
export { seededRandom } from "./seeded-random.ts";
export { splitItems } from "./split-items.ts";
export {
  DONE,
  decodeSse,
  encodeSse,
  type RawSseEvent,
  SseDecoder,
  type SseDecoderOptions,
  SseError,
  type SseEvent,
} from "./sse.ts";
export { type Dialect, type StreamOutcome, streamOutcome, terminalOutcome } from "./stream-outcome.ts";
export { parseThinkTags, type ThinkParts, wrapInThinkTags } from "./think-tags.ts";
export {
  type Boundary,
  type CallTokens,
  type Continuity,
  callsOf,
  classifyBoundary,
  classifyCalls,
} from "./token-continuity.ts";
export {
  rebuildFromTokens,
  type TokenRebuild,
  type TokenRebuildMetrics,
  type TokenRecord,
} from "./token-rebuild.ts";
export { ownUsage, usageFromChat } from "./usage.ts";
export { CHAT_PARAM_KEYS, parseChatParams } from "./validate-chat.ts";
export { parseChatCompletion } from "./validate-completion.ts";
export { type ErrorDetail, type Location, ValidationError, zodDetail } from "./validation.ts";
export { type AudioOfRow, insertAudio, takeAudio } from "./vllm-audio.ts";
export {
  bareReasoningCompletion,
  contextOverflowCompletion,
  isContextOverflow,
  mergeReasoning,
} from "./vllm-completion.ts";
export {
  buildVllmChatBody,
  endsInBareReasoning,
  metadataObject,
  templateSettings,
  tokenizeBody,
  type VllmChatBody,
  type VllmSettings,
} from "./vllm-request.ts";
export { attachTokens, type FoundTokens, findTokens, TokenInformationError } from "./vllm-tokens.ts";
