/**
 * The APIs of language models: the Responses API, which all servers use, Chat Completions and Anthropic Messages, the
 * conversions between them, their streams, and token ids for training.
 *
 * @module
 */

export {
  ConversionError,
  type Loss,
  type OnLoss,
} from "./convert/conversion-loss.ts";
export {
  convertAnthropicMessage,
  convertAnthropicRequest,
} from "./convert/convert-anthropic-to-responses.ts";
export {
  assistantMessageToItems,
  chatMessagesToItems,
  convertChatCompletion,
  convertChatRequest,
} from "./convert/convert-chat-to-responses.ts";
export { convertResponsesToChat } from "./convert/convert-responses-to-chat.ts";
export { convertToAnthropicMessage } from "./convert/convert-to-anthropic-message.ts";
export { convertToAnthropicRequest } from "./convert/convert-to-anthropic-request.ts";
export { mergeReasoning } from "./convert/merge-reasoning.ts";
export { responseEnvelope } from "./convert/response-envelope.ts";
export { parseThinkTags } from "./convert/think-tags.ts";
export {
  accumulateUsage,
  normalizeUsage,
  sumUsage,
  usageFromChat,
} from "./convert/usage.ts";
export { newId } from "./ids.ts";
export {
  functionCallOutputs,
  functionCalls,
  type HasOutput,
  lastAssistantText,
  lastItemText,
  outputText,
  parseArguments,
  readLastItem,
  textParts,
} from "./read-output.ts";
export { type RandomSource, sampleSchema, seededRandom } from "./sample-schema.ts";
export type {
  AnthropicMessage,
  AnthropicRequest,
} from "./schemas/anthropic-types.ts";
export type {
  ChatCompletion,
  ChatCreateParams,
  ChatMessage,
} from "./schemas/chat-types.ts";
export { laxBool, laxFloat, laxInt } from "./schemas/lax.ts";
export {
  materializeCreateParams,
  materializeResponse,
} from "./schemas/materialize.ts";
export {
  type FunctionCall,
  type FunctionCallOutput,
  type FunctionTool,
  type OutputMessage,
  parseCreateParams,
  parseResponse,
  type Reasoning,
  type Response,
  type ResponseCreateParams,
  type ResponseInputItem,
  type ResponseOutputItem,
  type Tool,
  type ToolChoice,
  type Usage,
} from "./schemas/responses.ts";
export { CHAT_PARAM_KEYS, parseChatParams } from "./schemas/validate-chat.ts";
export { parseChatCompletion } from "./schemas/validate-completion.ts";
export { ValidationError, zodDetail } from "./schemas/validation.ts";
export { assembleStream } from "./stream/assemble-stream.ts";
export {
  replayAnthropicMessage,
  replayChatCompletion,
  replayResponse,
  replayResponseFailure,
} from "./stream/replay.ts";
export { sanitizeStreamingResponses } from "./stream/sanitize-streaming.ts";
export {
  SseDecoder,
  SseError,
  type SseEvent,
  type StreamOutcome,
  streamOutcome,
} from "./stream/sse.ts";
export {
  type Boundary,
  type CallTokens,
  callsOf,
  classifyBoundary,
  classifyCalls,
} from "./tokens/token-continuity.ts";
export { withoutTokens } from "./tokens/token-fields.ts";
export { rebuildFromTokens } from "./tokens/token-rebuild.ts";
export {
  attachTokens,
  findTokens,
  TokenInformationError,
} from "./tokens/vllm-tokens.ts";
