/** Streams of the three APIs. */

export { assembleStream } from "./assemble-stream.ts";
export { ResponseEvents, replayAnthropicMessage, replayChatCompletion, replayResponse } from "./replay.ts";
export {
  type NamespaceMap,
  parseSanitizedParams,
  sanitizeStreamingChat,
  sanitizeStreamingResponses,
} from "./sanitize-streaming.ts";
export {
  type Dialect,
  decodeSse,
  encodeSse,
  parseData,
  SseDecoder,
  type SseEvent,
  type StreamOutcome,
  terminalOutcome,
} from "./sse.ts";
