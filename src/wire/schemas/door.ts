/** The types of the three APIs, and their checks. */

export type { AnthropicMessage } from "./anthropic-types.ts";
export type { ChatCompletion, ChatCreateParams, ChatMessage, ChatTool } from "./chat-types.ts";
export {
  type FunctionCall,
  type FunctionCallOutput,
  type FunctionTool,
  HOSTED_CALL_TYPES,
  type ResponseInputItem,
  type ResponseOutputItem,
  type TokenInformation,
  type Tool,
} from "./item-types.ts";
export {
  type MaterializedResponse,
  materializeCreateParams,
  materializeItem,
  materializeResponse,
} from "./materialize.ts";
export { float, readWith, type Trail } from "./readers.ts";
export {
  CREATE_PARAM_KEYS,
  parseCreateParams,
  parseResponse,
  type Response,
  type ResponseCreateParams,
  readCreateParams,
  readResponse,
} from "./responses.ts";
export { trust } from "./trusted.ts";
export { parseChatParams } from "./validate-chat.ts";
export { type ErrorDetail, ValidationError, zodDetail } from "./validation.ts";
