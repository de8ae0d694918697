import type { ModelMessage } from "ai";
import { type ChatMessage, textParts } from "nemo-gym/openai";

/** Converts items to messages of the AI SDK. */
export function modelMessages(messages: readonly ChatMessage[]): ModelMessage[] {
  const toolNames = new Map<string, string>();
  return messages.map((message): ModelMessage => {
    switch (message.role) {
      case "system":
      case "developer":
        return { role: "system", content: textOf(message.content) };
      case "user":
        return { role: "user", content: userParts(message.content) };
      case "tool":
        return {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: message.tool_call_id,
              toolName: toolNames.get(message.tool_call_id) ?? "",
              output: { type: "text", value: textOf(message.content) },
            },
          ],
        };
      default: {
        const calls = "tool_calls" in message ? (message.tool_calls ?? []) : [];
        const parts = calls.flatMap((call) => {
          if (!("function" in call)) return [];
          toolNames.set(call.id, call.function.name);
          const { name, arguments: text } = call.function;
          return [{ type: "tool-call" as const, toolCallId: call.id, toolName: name, input: parsed(text) }];
        });
        const text = textOf(message.content);
        return {
          role: "assistant",
          content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...parts],
        };
      }
    }
  });
}

function userParts(content: unknown) {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part: { text?: string; image_url?: { url: string } }) =>
    part.image_url
      ? { type: "image" as const, image: new URL(part.image_url.url) }
      : { type: "text" as const, text: part.text ?? "" },
  );
}

const textOf = (content: unknown): string => textParts(content).join("\n");

/** The arguments of a call; text that is not JSON stays a string. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
