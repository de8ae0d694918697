import { inputItems } from "../../definitions/call-model.ts";
import type { ResponseCreateParams, ResponseInputItem } from "../../wire/schemas/responses.ts";

/** What a command-line harness is asked. */
export interface HarnessPrompt {
  prompt: string;
  system: string | undefined;
}

/**
 * The last user message is the prompt. A leading system message follows the configured system prompt. Harnesses start new
 * conversations, so earlier turns are left out.
 */
export function promptOf(params: ResponseCreateParams, configured?: string | null): HarnessPrompt {
  const items = inputItems(params);
  const [first] = items;
  const leading = first !== undefined && isMessage(first) && first.role === "system" ? textOf(first) : "";
  const system = [configured ?? "", leading].filter((text) => text !== "").join("\n\n");
  const last = items.findLast((item) => isMessage(item) && item.role === "user");
  return { prompt: last === undefined ? "" : textOf(last), system: system === "" ? undefined : system };
}

type Message = Extract<ResponseInputItem, { role?: string; content: unknown }>;

function isMessage(item: ResponseInputItem): item is Message {
  return (item.type === undefined || item.type === "message") && "content" in item;
}

function textOf(item: ResponseInputItem): string {
  const content = "content" in item ? item.content : undefined;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => ("text" in part && typeof part.text === "string" ? part.text : ""))
    .filter((text) => text !== "")
    .join("\n");
}
