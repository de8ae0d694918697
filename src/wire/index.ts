/**
 * The APIs of language models: the Responses API, which all servers use, Chat Completions and Anthropic Messages, the
 * conversions between them, their streams, and token ids for training.
 *
 * @module
 */

export {
  ConversionError,
  type ConversionFailure,
  type Loss,
  type OnLoss,
} from "./convert/conversion-loss.ts";
export {
  convertAnthropicMessage,
  convertAnthropicRequest,
  type FromAnthropicMessageOptions,
  type FromAnthropicOptions,
} from "./convert/convert-anthropic-to-responses.ts";
export {
  type AssistantItem,
  assistantMessageToItems,
  type ChatItem,
  type ChatToItemsOptions,
  chatMessagesToItems,
  convertChatCompletion,
  convertChatRequest,
} from "./convert/convert-chat-to-responses.ts";
export { convertResponsesToChat, type ResponsesToChatOptions } from "./convert/convert-responses-to-chat.ts";
export {
  convertToAnthropicMessage,
  type ToAnthropicMessageOptions,
} from "./convert/convert-to-anthropic-message.ts";
export {
  convertToAnthropicRequest,
  type ToAnthropicRequestOptions,
} from "./convert/convert-to-anthropic-request.ts";
export { type EnvelopeOptions, responseEnvelope } from "./convert/response-envelope.ts";
export { parseThinkTags, type ThinkParts, wrapInThinkTags } from "./convert/think-tags.ts";
export {
  accumulateUsage,
  type NormalizedUsage,
  normalizeUsage,
  ownUsage,
  sumUsage,
  usageFromChat,
} from "./convert/usage.ts";
export {
  type AudioOfRow,
  bareReasoningCompletion,
  buildVllmChatBody,
  contextOverflowCompletion,
  endsInBareReasoning,
  insertAudio,
  isContextOverflow,
  mergeReasoning,
  metadataObject,
  takeAudio,
  templateSettings,
  tokenizeBody,
  type VllmChatBody,
  type VllmSettings,
} from "./convert/vllm.ts";
export { countingIds, type IdPrefix, type NewId, newId } from "./ids.ts";
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
  splitItems,
  stripMcpPrefix,
  textParts,
} from "./read-output.ts";
export { rolloutIdOf } from "./rollout-id.ts";
export { type RandomSource, sampleSchema, seededRandom } from "./sample-schema.ts";
export type * from "./schemas/anthropic-types.ts";
export type * from "./schemas/chat-types.ts";
export { laxBool, laxFloat, laxInt, strictStr } from "./schemas/lax.ts";
export {
  type MaterializedCreateParams,
  type MaterializedResponse,
  materializeCreateParams,
  materializeItem,
  materializeResponse,
} from "./schemas/materialize.ts";
export * from "./schemas/responses.ts";
export { CHAT_PARAM_KEYS, parseChatParams } from "./schemas/validate-chat.ts";
export { parseChatCompletion } from "./schemas/validate-completion.ts";
export { type ErrorDetail, type Location, ValidationError, zodDetail } from "./schemas/validation.ts";
export { assembleStream } from "./stream/assemble-stream.ts";
export {
  type ReplayChatOptions,
  replayAnthropicFailure,
  replayAnthropicMessage,
  replayChatCompletion,
  replayResponse,
  replayResponseFailure,
} from "./stream/replay.ts";
export {
  type NamespaceMap,
  parseSanitizedParams,
  type SanitizedChatRequest,
  type SanitizedRequest,
  sanitizeStreamingChat,
  sanitizeStreamingResponses,
} from "./stream/sanitize-streaming.ts";
export {
  type Dialect,
  DONE,
  decodeSse,
  encodeSse,
  type RawSseEvent,
  SseDecoder,
  type SseDecoderOptions,
  SseError,
  type SseEvent,
  type StreamOutcome,
  streamOutcome,
  terminalOutcome,
} from "./stream/sse.ts";
export {
  type Boundary,
  type CallTokens,
  type Continuity,
  callsOf,
  classifyBoundary,
  classifyCalls,
} from "./tokens/token-continuity.ts";
export { withoutTokens } from "./tokens/token-fields.ts";
export {
  rebuildFromTokens,
  type TokenRebuild,
  type TokenRebuildMetrics,
  type TokenRecord,
} from "./tokens/token-rebuild.ts";
export {
  attachTokens,
  type FoundTokens,
  findTokens,
  TokenInformationError,
  withPolicyVersion,
} from "./tokens/vllm-tokens.ts";
