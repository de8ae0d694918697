import { loads } from "../base/python/json/door.ts";
import {
  type EndpointOptions,
  type EndpointReply,
  type EndpointRequest,
  EndpointServer,
} from "./endpoint-server.ts";
import type { MockAnswer } from "./mock-model-endpoint.ts";

export interface AnthropicDoubleOptions extends Omit<EndpointOptions, "handler"> {
  apiKey?: string;
  answer?: (request: EndpointRequest) => MockAnswer;
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

interface Block {
  type: string;
  id?: string;
  tool_use_id?: string;
}

/** A test double of the Messages API that is as strict as the real one about headers, roles and tool results. */
export class AnthropicDouble extends EndpointServer {
  constructor(options: AnthropicDoubleOptions = {}) {
    super({ ...options, handler: (request) => respond(request, options) });
  }

  get baseUrl(): string {
    return this.origin;
  }
}

let serial = 0;

function respond(request: EndpointRequest, { apiKey, answer }: AnthropicDoubleOptions): EndpointReply {
  const { headers, body } = request;
  if (request.path !== "/v1/messages") return failure(404, "not_found_error", `no ${request.path}`);
  if (apiKey !== undefined && headers["x-api-key"] !== apiKey) {
    return failure(401, "authentication_error", `invalid x-api-key: ${headers["x-api-key"]}`);
  }
  if (!headers["anthropic-version"])
    return failure(400, "invalid_request_error", "anthropic-version: header is required");
  const problem = problemOf(body);
  if (problem) return failure(400, "invalid_request_error", problem);
  const { text, reasoning, toolCalls = [], finishReason, usage } = answer?.(request) ?? { text: "Hello." };
  const reason = finishReason ?? (toolCalls.length > 0 ? "tool_calls" : "stop");
  return {
    body: {
      id: `msg_${++serial}`,
      type: "message",
      role: "assistant",
      model: body["model"],
      content: [
        ...(reasoning === undefined
          ? []
          : [{ type: "thinking", thinking: reasoning, signature: `sig-${serial}` }]),
        ...(text === undefined ? [] : [{ type: "text", text }]),
        ...toolCalls.map((call) => ({
          type: "tool_use",
          id: call.id ?? `toolu_${++serial}`,
          name: call.name,
          input: typeof call.arguments === "string" ? loads(call.arguments) : (call.arguments ?? {}),
        })),
      ],
      stop_reason: STOP_REASONS[reason] ?? reason,
      stop_sequence: null,
      usage: { input_tokens: usage?.input ?? 10, output_tokens: usage?.output ?? 5 },
    },
  };
}

function problemOf(body: Record<string, unknown>): string | undefined {
  if (typeof body["model"] !== "string") return "model: Field required";
  if (typeof body["max_tokens"] !== "number") return "max_tokens: Field required";
  const messages = body["messages"] as { role: string; content: string | Block[] }[] | undefined;
  if (!Array.isArray(messages) || messages.length === 0) return "messages: at least one message is required";
  let open: string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    const blocks: Block[] = typeof content === "string" ? [] : content;
    if (role !== "user" && role !== "assistant") return `messages.${index}.role: unexpected value`;
    if (Array.isArray(content) && content.length === 0) return `messages.${index}: content must not be empty`;
    const results = blocks
      .filter(({ type }) => type === "tool_result")
      .map((block) => block.tool_use_id ?? "");
    const missing = open.find((id) => !results.includes(id));
    if (missing)
      return `messages.${index}: tool_use ids were found without tool_result blocks immediately after: ${missing}`;
    const stray = results.find((id) => !open.includes(id));
    if (stray) return `messages.${index}: unexpected tool_use_id found in tool_result blocks: ${stray}`;
    open = blocks.filter(({ type }) => type === "tool_use").map((block) => block.id ?? "");
  }
  return undefined;
}

function failure(status: number, type: string, message: string): EndpointReply {
  return { status, body: { type: "error", error: { type, message }, request_id: `req_${++serial}` } };
}
