/** The used part of the AI SDK; the server loads the package from this folder when it starts. */
export interface AiSdk {
  generateText(options: Record<string, unknown>): Promise<SdkResult>;
  jsonSchema(schema: unknown): unknown;
}

/** One part of a message, in either direction. */
export type SdkPart =
  | { type: "text"; text: string; providerOptions?: unknown }
  | { type: "image"; image: string }
  | { type: "file"; data: string; mediaType: string; filename?: string }
  | { type: "reasoning"; text: string; providerOptions?: unknown }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown; providerOptions?: unknown }
  | { type: "tool-result"; toolCallId: string; toolName: string; output: { type: "text"; value: string } };

export interface SdkMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | SdkPart[];
}

/** The response of a model. */
export interface SdkResult {
  content: {
    type: string;
    text?: string;
    toolCallId?: string;
    toolName?: string;
    input?: unknown;
    providerMetadata?: unknown;
  }[];
  finishReason: string;
  usage: {
    inputTokens?: number | undefined;
    outputTokens?: number | undefined;
    totalTokens?: number | undefined;
    inputTokenDetails?: { cacheReadTokens?: number | undefined } | undefined;
    outputTokenDetails?: { reasoningTokens?: number | undefined } | undefined;
  };
  response: { timestamp?: Date };
  warnings?: readonly unknown[] | undefined;
}
