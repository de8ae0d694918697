/** Reasons for the reward of a step; the texts are part of the result rows. */
export const CATEGORIES = {
  noActionFound: "No tool call or chat message was found in the response",
  noExpectedToolCall: "No tool call was found when one was expected",
  expectedChatMessageFound: "A chat message was found as expected",
  noExpectedChatMessage: "A tool call was executed when a chat message was expected",
  unexpectedTool: "The tool in a tool call is not the expected tool",
  argumentsDecodeError:
    "An error occurred when decoding the arguments string in a tool call as a JSON object",
  valueTypeDifferent: "The type of an argument value in a tool call is different than the expected type",
  objectKeysDifferent:
    "The keys in an object in an argument value in a tool call are different than the keys in the expected object",
  listLengthDifferent:
    "A list in an argument value in a tool call has a different length than the expected list",
  valueDifferent: "An argument value in a tool call is different than the expected value",
  expectedToolCall: "A tool call that matches the expected tool call was found",
  batchLengthDifferent: "The number of tool calls in a batch is different than expected",
  expectedToolCallBatch: "A tool-call batch that matches the expected tool calls was found",
} as const;

export type Category = (typeof CATEGORIES)[keyof typeof CATEGORIES];
