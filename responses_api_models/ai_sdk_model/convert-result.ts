import {
  newId,
  type Response,
  type ResponseCreateParams,
  type ResponseOutputItem,
  responseEnvelope,
  type Usage,
} from "nemo-gym/openai";
import type { SdkResult } from "./sdk-types.ts";

const INCOMPLETE: Readonly<Record<string, string>> = {
  length: "max_output_tokens",
  "content-filter": "content_filter",
};

/** Converts a result of `generateText` to a Response. */
export function sdkResponse(result: SdkResult, params: ResponseCreateParams, model: string): Response {
  const reason = INCOMPLETE[result.finishReason];
  const createdAt = Math.floor((result.response.timestamp?.getTime() ?? Date.now()) / 1000);
  return {
    ...responseEnvelope(params, { model, createdAt }),
    output: items(result),
    incomplete_details: reason === undefined ? null : { reason },
    status: reason === undefined ? "completed" : "incomplete",
    usage: usageOf(result.usage),
  };
}

function items(result: SdkResult): ResponseOutputItem[] {
  const found = result.content.flatMap((part): ResponseOutputItem[] => {
    switch (part.type) {
      case "text":
        return part.text ? [message(part.text)] : [];
      case "reasoning":
        return [
          {
            id: newId("rs"),
            type: "reasoning",
            summary: part.text ? [{ type: "summary_text", text: part.text }] : [],
            encrypted_content: part.providerMetadata ? JSON.stringify(part.providerMetadata) : null,
          },
        ];
      case "tool-call": {
        const { toolCallId = newId("fc"), toolName = "", input } = part;
        // Arguments that are not a JSON object stay as the model wrote them.
        const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
        return [
          {
            type: "function_call",
            id: toolCallId,
            call_id: toolCallId,
            name: toolName,
            arguments: text,
            status: "completed",
          },
        ];
      }
      default:
        return [];
    }
  });
  return found.length > 0 ? found : [message("")];
}

function message(text: string): ResponseOutputItem {
  return {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [], logprobs: null }],
  };
}

function usageOf({ inputTokens, outputTokens, totalTokens, ...details }: SdkResult["usage"]): Usage | null {
  if (inputTokens === undefined && outputTokens === undefined) return null;
  const input = inputTokens ?? 0;
  const output = outputTokens ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: details.inputTokenDetails?.cacheReadTokens ?? null },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: details.outputTokenDetails?.reasoningTokens ?? null },
    total_tokens: totalTokens ?? input + output,
  };
}
