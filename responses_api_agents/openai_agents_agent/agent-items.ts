import type { AgentInputItem } from "@openai/agents";
import { type ResponseInputItem, textParts } from "nemo-gym/openai";

/** Converts Responses API items to items of the Agents SDK; unknown types are omitted. */
export function agentItems(items: readonly ResponseInputItem[]): AgentInputItem[] {
  const names = new Map<string, string>();
  return items.flatMap((item): AgentInputItem[] => {
    if (item.type === "function_call") {
      names.set(item.call_id, item.name);
      const { call_id: callId, name, arguments: text } = item;
      return [{ type: "function_call", callId, name, arguments: text, status: "completed" }];
    }
    if (item.type === "function_call_output") {
      const output = typeof item.output === "string" ? item.output : JSON.stringify(item.output);
      const name = names.get(item.call_id) ?? "";
      return [{ type: "function_call_result", callId: item.call_id, name, status: "completed", output }];
    }
    if (!("role" in item) || !("content" in item)) return [];
    const content = item.content as string | Part[];
    if (item.role === "assistant")
      return [
        { role: "assistant", status: "completed", content: [{ type: "output_text", text: textOf(content) }] },
      ];
    if (item.role === "system" || item.role === "developer")
      return [{ role: "system", content: textOf(content) }];
    return [{ role: "user", content: typeof content === "string" ? content : content.map(userPart) }];
  });
}

interface Part {
  text?: string;
  image_url?: string | null;
}

const textOf = (content: unknown): string => textParts(content).join("\n");

const userPart = ({ text, image_url }: Part) =>
  image_url
    ? { type: "input_image" as const, image: image_url }
    : { type: "input_text" as const, text: text ?? "" };
