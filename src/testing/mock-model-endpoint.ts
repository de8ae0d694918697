import {
  type EndpointOptions,
  type EndpointReply,
  type EndpointRequest,
  EndpointServer,
} from "./endpoint-server.ts";

/** The answer of the model in one turn. */
export interface MockAnswer {
  text?: string;
  reasoning?: string;
  toolCalls?: { name: string; arguments: unknown; id?: string }[];
  /** As in Chat Completions: `stop`, `length`, `content_filter` or `tool_calls`. */
  finishReason?: string;
  usage?: MockUsage;
}

interface MockUsage {
  input: number;
  output: number;
  cached?: number;
  reasoning?: number;
}

export interface MockModelOptions extends Omit<EndpointOptions, "handler"> {
  /** The required key. By default any key is accepted. */
  apiKey?: string;
  answer?: (request: EndpointRequest) => MockAnswer | Promise<MockAnswer>;
  /** Other paths, such as `/v1/models`. */
  other?: (request: EndpointRequest) => EndpointReply | undefined;
}

const CREATED = 1_700_000_000;
const DEFAULT_USAGE: MockUsage = { input: 10, output: 5 };

/**
 * A test double of an endpoint with the Responses API and Chat Completions. It returns scripted answers and fails on demand.
 *
 * @example
 * const endpoint = await new MockModelEndpoint({ answer: () => ({ text: "Hello." }) }).start();
 * endpoint.fail(faults.rateLimited(1));
 */
export class MockModelEndpoint extends EndpointServer {
  constructor(options: MockModelOptions = {}) {
    const { apiKey, answer = () => ({ text: "Hello." }), other } = options;
    super({
      ...options,
      handler: async (request) => {
        if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`)
          return rejection(request);
        const path = request.path.replace(/\?.*$/, "");
        if (path.endsWith("/chat/completions")) return { body: completion(request, await answer(request)) };
        if (path.endsWith("/responses")) return { body: response(request, await answer(request)) };
        return other?.(request) ?? { status: 404, body: { error: { message: `no ${path} here` } } };
      },
    });
  }

  /** The base URL for model servers. */
  get baseUrl(): string {
    return `${this.origin}/v1`;
  }
}

/** Contains the key, as with some endpoints, so that tests can check whether a log contains it. */
function rejection({ headers }: EndpointRequest): EndpointReply {
  const given = headers.authorization ?? "none";
  const message = `Incorrect API key provided: ${given}.`;
  return {
    status: 401,
    body: { error: { message, type: "invalid_request_error", code: "invalid_api_key" } },
  };
}

let serial = 0;

/** The tool calls of an answer, with their arguments as JSON text. */
export function mockCallsOf(answer: MockAnswer, newId = () => `call_${++serial}`) {
  return (answer.toolCalls ?? []).map((call) => ({
    id: call.id ?? newId(),
    name: call.name,
    arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {}),
  }));
}

function completion({ body }: EndpointRequest, answer: MockAnswer) {
  const calls = mockCallsOf(answer);
  const { input, output, cached, reasoning } = answer.usage ?? DEFAULT_USAGE;
  return {
    id: `chatcmpl-${++serial}`,
    object: "chat.completion",
    created: CREATED,
    model: body["model"],
    choices: [
      {
        index: 0,
        finish_reason: answer.finishReason ?? (calls.length > 0 ? "tool_calls" : "stop"),
        logprobs: null,
        message: {
          role: "assistant",
          content: answer.text ?? null,
          refusal: null,
          ...(answer.reasoning !== undefined && { reasoning_content: answer.reasoning }),
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ id, ...fn }) => ({ id, type: "function", function: fn })),
          }),
        },
      },
    ],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
      ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    },
  };
}

const INCOMPLETE: Readonly<Record<string, string>> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

function response({ body }: EndpointRequest, answer: MockAnswer) {
  const { input, output, cached, reasoning } = answer.usage ?? DEFAULT_USAGE;
  const reason = INCOMPLETE[answer.finishReason ?? ""];
  const id = `resp_${++serial}`;
  const items: object[] = [];
  if (answer.reasoning !== undefined) {
    const summary = [{ type: "summary_text", text: answer.reasoning }];
    items.push({ id: `rs_${++serial}`, type: "reasoning", summary });
  }
  if (answer.text !== undefined) {
    const content = [{ type: "output_text", text: answer.text, annotations: [] }];
    items.push({ id: `msg_${++serial}`, type: "message", role: "assistant", status: "completed", content });
  }
  for (const { id: call_id, ...call } of mockCallsOf(answer))
    items.push({ id: `fc_${call_id}`, type: "function_call", call_id, status: "completed", ...call });
  return {
    id,
    object: "response",
    created_at: CREATED,
    model: body["model"],
    output: items,
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    temperature: body["temperature"] ?? null,
    top_p: body["top_p"] ?? null,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    status: reason === undefined ? "completed" : "incomplete",
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached ?? 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
      total_tokens: input + output,
    },
  };
}
