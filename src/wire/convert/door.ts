/** Conversions between the three APIs. */

export {
  ConversionError,
  type Loss,
  LossLog,
  type OnLoss,
  tellsOfLoss,
  unsupported,
} from "./conversion-loss.ts";
export { convertAnthropicMessage, convertAnthropicRequest } from "./convert-anthropic-to-responses.ts";
export {
  chatMessagesToItems,
  convertChatCompletion,
  convertChatRequest,
} from "./convert-chat-to-responses.ts";
export { convertResponsesToChat } from "./convert-responses-to-chat.ts";
export { convertToAnthropicMessage } from "./convert-to-anthropic-message.ts";
export { convertToChatCompletion } from "./convert-to-chat-completion.ts";
export { mergeReasoning } from "./merge-reasoning.ts";
export { responseEnvelope } from "./response-envelope.ts";
export {
  accumulateUsage,
  countOf,
  normalizeUsage,
  numericCounts,
  type Usage,
  usageFromChat,
} from "./usage.ts";
