import {
  ConversionError,
  type OnLoss,
  parseArguments,
  type ResponseCreateParams,
  type ResponseInputItem,
  type ToolChoice,
} from "nemo-gym/openai";
import type { SdkMessage, SdkPart } from "./sdk-types.ts";

const LOST = [
  "background",
  "include",
  "max_tool_calls",
  "metadata",
  "reasoning",
  "service_tier",
  "store",
  "truncation",
  "user",
] as const satisfies (keyof ResponseCreateParams)[];

/** The arguments of `generateText` for a Responses request; tools have a name, a description and a schema. */
export function sdkRequest(params: ResponseCreateParams, onLoss?: OnLoss) {
  for (const field of LOST) {
    if (params[field] != null)
      onLoss?.({ field, reason: "the AI SDK has no such argument for every provider" });
  }
  for (const field of ["previous_response_id", "prompt", "top_logprobs"] as const) {
    if (params[field]) unsupported(`requests with ${field}`);
  }
  const { format, verbosity } = params.text ?? {};
  if (format != null && format.type !== "text") unsupported("requests with text.format");
  if (verbosity != null)
    onLoss?.({ field: "text.verbosity", reason: "the AI SDK has no such argument for every provider" });
  const tools = (params.tools ?? []).map((tool, index) => {
    if (tool.type !== "function") return unsupported(`tools.${index}: '${tool.type}' tools`);
    return { name: tool.name, description: tool.description ?? undefined, parameters: tool.parameters ?? {} };
  });
  return {
    messages: sdkMessages(params),
    tools,
    ...(tools.length > 0 &&
      params.tool_choice !== undefined && { toolChoice: sdkToolChoice(params.tool_choice) }),
    ...(params.max_output_tokens != null && { maxOutputTokens: params.max_output_tokens }),
    ...(params.temperature != null && { temperature: params.temperature }),
    ...(params.top_p != null && { topP: params.top_p }),
  };
}

function unsupported(what: string): never {
  throw new ConversionError("unsupported", `${what} have no form in the AI SDK`);
}

function sdkToolChoice(choice: ToolChoice) {
  if (typeof choice === "string") return choice;
  if (choice.type === "function") return { type: "tool", toolName: String(choice["name"]) };
  return unsupported(`tool choices of type '${choice.type}'`);
}

function sdkMessages(params: ResponseCreateParams): SdkMessage[] {
  const messages: SdkMessage[] = [];
  if (params.instructions) messages.push({ role: "system", content: params.instructions });
  if (typeof params.input === "string") return [...messages, { role: "user", content: params.input }];
  const names = new Map<string, string>();
  for (const [index, item] of params.input.entries()) addItem(item, index, messages, names);
  return messages;
}

function addItem(
  item: ResponseInputItem,
  index: number,
  messages: SdkMessage[],
  names: Map<string, string>,
): void {
  switch (item.type ?? "message") {
    case "message":
      addMessage(item as unknown as { role: string; content: unknown }, index, messages);
      return;
    case "reasoning": {
      const { summary, encrypted_content } = item as {
        summary: { text: string }[];
        encrypted_content?: string | null;
      };
      const providerOptions = metadataIn(encrypted_content);
      const text = summary.map((part) => part.text).join("\n");
      append(messages, "assistant", [
        { type: "reasoning", text, ...(providerOptions && { providerOptions }) },
      ]);
      return;
    }
    case "function_call": {
      const call = item as { call_id: string; name: string; arguments: string };
      names.set(call.call_id, call.name);
      const parsed = parseArguments(call.arguments);
      const input = parsed.ok ? parsed.value : call.arguments;
      append(messages, "assistant", [
        { type: "tool-call", toolCallId: call.call_id, toolName: call.name, input },
      ]);
      return;
    }
    case "function_call_output": {
      const { call_id, output } = item as { call_id: string; output: unknown };
      const value = typeof output === "string" ? output : JSON.stringify(output);
      const toolName = names.get(call_id) ?? "unknown";
      append(messages, "tool", [
        { type: "tool-result", toolCallId: call_id, toolName, output: { type: "text", value } },
      ]);
      return;
    }
    default:
      unsupported(`input.${index}: '${item.type}' items`);
  }
}

function addMessage(
  { role, content }: { role: string; content: unknown },
  index: number,
  messages: SdkMessage[],
): void {
  if (role === "system" || role === "developer") {
    messages.push({ role: "system", content: textOf(content) });
  } else if (role === "user") {
    messages.push({
      role,
      content: typeof content === "string" ? content : partsOf(content).map((part) => userPart(part, index)),
    });
  } else if (role === "assistant") {
    append(messages, "assistant", [{ type: "text", text: textOf(content) }]);
  } else unsupported(`input.${index}: messages of role '${role}'`);
}

/** Merges consecutive assistant items, and consecutive tool outputs, into one message each. */
function append(messages: SdkMessage[], role: "assistant" | "tool", parts: SdkPart[]): void {
  const last = messages.at(-1);
  if (last?.role === role && Array.isArray(last.content)) last.content.push(...parts);
  else messages.push({ role, content: parts });
}

interface Part {
  type?: string;
  text?: string;
  refusal?: string;
  image_url?: string | { url?: string };
  file_data?: string;
  filename?: string;
}

const partsOf = (content: unknown): Part[] => (Array.isArray(content) ? (content as Part[]) : []);

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return partsOf(content)
    .map((part) => part.text ?? part.refusal ?? "")
    .join("");
}

function userPart(part: Part, index: number): SdkPart {
  switch (part.type) {
    case "input_text":
      return { type: "text", text: part.text ?? "" };
    case "input_image": {
      const image = typeof part.image_url === "object" ? part.image_url.url : part.image_url;
      return image ? { type: "image", image } : unsupported(`input.${index}: images without a link`);
    }
    case "input_file": {
      const match = /^data:([^;,]+);base64,/.exec(part.file_data ?? "");
      if (!match) return unsupported(`input.${index}: files other than data URLs`);
      const data = (part.file_data ?? "").slice(match[0].length);
      return {
        type: "file",
        data,
        mediaType: match[1] ?? "",
        ...(part.filename && { filename: part.filename }),
      };
    }
    default:
      return unsupported(`input.${index}: '${part.type}' parts`);
  }
}

/** Signatures and ids that providers need back are stored as JSON in `encrypted_content`. */
function metadataIn(text: string | null | undefined): object | undefined {
  if (!text?.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
