import {
  type EndpointOptions,
  type EndpointReply,
  type EndpointRequest,
  EndpointServer,
} from "./endpoint-server.ts";
import { type MockAnswer, mockCallsOf } from "./mock-model-endpoint.ts";
import { ToyTokenizer } from "./toy-tokenizer.ts";

/** Ways in which the tokens of a prompt do not continue those of the previous turn. */
export type Drift =
  /** The generated tokens differ from those of the same text after tokenizing it again. */
  | "odd-spelling"
  /** A part at the start of the prompt changes, such as a date. */
  | "changing-prompt";

/** One generation of the engine. */
export interface VllmCall {
  /** Number of assistant messages in the history. */
  turn: number;
  promptIds: number[];
  generationIds: number[];
  /** Whether the prompt continues a prompt and generation of the previous turn. Undefined for the first turn. */
  continues: boolean | undefined;
  policyVersion: number | undefined;
}

export interface VllmDoubleOptions extends Omit<EndpointOptions, "handler"> {
  model?: string;
  apiKey?: string;
  /** The generated answer. `turn` is the number of assistant messages in the history. */
  answer?: (request: EndpointRequest, turn: number) => MockAnswer;
  /** Returns reasoning separately, as with `--reasoning-parser`. */
  reasoningParser?: boolean;
  /** Includes the reasoning of earlier turns in the prompt. Many templates remove it. */
  keepsReasoning?: boolean;
  /** Continues from the token ids of assistant messages or of `required_prefix_token_ids`, as training engines do. */
  splicesPrefix?: boolean;
  /** Supports `return_token_ids`. Engines before 0.10.2 do not. */
  returnsTokenIds?: boolean;
  maxModelLen?: number;
  drift?: (turn: number, body: Readonly<Record<string, unknown>>) => Drift | undefined;
  /** Returned with every answer. See `policyVersion`. */
  policyVersion?: number;
  /** Replicas of a model share it. */
  tokenizer?: ToyTokenizer;
}

type Body = Record<string, unknown>;
interface Message {
  role: string;
  content?: unknown;
  reasoning_content?: string;
  tool_calls?: { function: { name: string; arguments: string } }[];
  prompt_token_ids?: number[];
  generation_token_ids?: number[];
}

const END = "<|im_end|>";
const CREATED = 1_700_000_000;

/**
 * A test double of a vLLM server that handles tokens as vLLM does: chat template, token ids in answers, log-probabilities with
 * `token_id:<n>`, `/tokenize`, `/v1/models`, context overflow, and prompts that continue earlier ones.
 */
export class VllmDouble extends EndpointServer {
  readonly tokenizer: ToyTokenizer;
  readonly calls: VllmCall[] = [];
  /** Increase it for new weights. */
  policyVersion: number | undefined;
  readonly #options: VllmDoubleOptions;
  readonly #finished = new FinishedSequences();
  #serial = 0;

  constructor(options: VllmDoubleOptions = {}) {
    super({ ...options, handler: (request) => this.#handle(request) });
    this.#options = options;
    this.tokenizer = options.tokenizer ?? new ToyTokenizer();
    this.policyVersion = options.policyVersion;
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }
  get model(): string {
    return this.#options.model ?? "toy/toy-1b";
  }

  #handle(request: EndpointRequest): EndpointReply {
    const { apiKey } = this.#options;
    const path = request.path.replace(/\?.*$/, "");
    if (path === "/health") return { body: "" };
    if (
      apiKey !== undefined &&
      path.startsWith("/v1") &&
      request.headers.authorization !== `Bearer ${apiKey}`
    ) {
      return { status: 401, body: { error: "Unauthorized" } };
    }
    if (path === "/v1/models") {
      const entry = { id: this.model, object: "model", created: CREATED, owned_by: "vllm" };
      return {
        body: { object: "list", data: [{ ...entry, max_model_len: this.#options.maxModelLen ?? 32_768 }] },
      };
    }
    if (path === "/pause" || path === "/resume") {
      if (path === "/pause") this.pause();
      else this.resume();
      return { body: { is_paused: path === "/pause" } };
    }
    const { body } = request;
    if (path === "/tokenize") return this.#tokenize(body);
    if (path === "/detokenize")
      return { body: { prompt: this.tokenizer.decode((body["tokens"] ?? []) as number[]) } };
    if (body["model"] !== this.model)
      return failure(404, "NotFoundError", `The model \`${body["model"]}\` does not exist.`);
    if (path === "/v1/chat/completions") return this.#chat(request);
    if (path === "/v1/completions") return this.#complete(request);
    return { status: 404, body: { detail: "Not Found" } };
  }

  #tokenize(body: Body): EndpointReply {
    const tokens =
      typeof body["prompt"] === "string"
        ? this.tokenizer.encode(body["prompt"])
        : this.#prompt(body, this.#turn(body));
    return { body: { count: tokens.length, max_model_len: this.#options.maxModelLen ?? 32_768, tokens } };
  }

  #turn(body: Body): number {
    return ((body["messages"] ?? []) as Message[]).filter(({ role }) => role === "assistant").length;
  }

  /** The token ids of the prompt. With `splicesPrefix` they start with the ids of earlier answers. */
  #prompt(body: Body, turn: number): number[] {
    const messages = (body["messages"] ?? []) as Message[];
    const changing = this.#options.drift?.(turn, body) === "changing-prompt";
    const head = `${changing ? `<|im_start|>system\nCall ${turn}${END}\n` : ""}${toolsText(body["tools"])}`;
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    const given = prefixOf(body, messages[last]);
    const text = (from: number) =>
      messages
        .slice(from)
        .map((message) => this.#message(message))
        .join("");
    const start = "<|im_start|>assistant\n";
    if (this.#options.splicesPrefix && given && !changing) {
      // The generation includes the end token. The template continues after it.
      return [...given, ...this.tokenizer.encode(`\n${text(last + 1)}${start}`)];
    }
    return this.tokenizer.encode(`${head}${text(0)}${start}`);
  }

  #message(message: Message): string {
    const { role } = message;
    const thought =
      this.#options.keepsReasoning !== false && message.reasoning_content
        ? `<think>${message.reasoning_content}</think>`
        : "";
    const calls = (message.tool_calls ?? []).map(({ function: call }) => callText(call.name, call.arguments));
    return `<|im_start|>${role}\n${thought}${textOf(message.content)}${calls.join("")}${END}\n`;
  }

  #chat(request: EndpointRequest): EndpointReply {
    const { body } = request;
    const turn = this.#turn(body);
    const promptIds = this.#prompt(body, turn);
    const rejected = this.#overflow(promptIds, body["max_tokens"] ?? body["max_completion_tokens"]);
    if (rejected) return rejected;
    const answer = this.#options.answer?.(request, turn) ?? { text: `Answer ${turn}.` };
    const calls = mockCallsOf(answer, () => `chatcmpl-tool-${++this.#serial}`);
    const thought = answer.reasoning === undefined ? "" : `<think>${answer.reasoning}</think>`;
    const text = answer.text ?? "";
    const written = `${thought}${text}${calls.map((call) => callText(call.name, call.arguments)).join("")}${END}`;
    const generationIds = this.#generate(promptIds, written, turn, body);
    const apart = this.#options.reasoningParser !== false;
    const content = apart ? text : thought + text;
    const message = {
      role: "assistant",
      content: content === "" && calls.length > 0 ? null : content,
      ...(apart && { reasoning_content: answer.reasoning ?? null }),
      tool_calls: calls.map(({ id, ...call }) => ({ id, type: "function", function: call })),
    };
    const finish = answer.finishReason ?? (calls.length > 0 ? "tool_calls" : "stop");
    return {
      body: {
        ...this.#envelope("chat.completion", promptIds, generationIds),
        ...(this.#sendsIds(body) && { prompt_token_ids: promptIds }),
        choices: [
          {
            index: 0,
            message,
            logprobs: body["logprobs"] === true ? { content: this.#chatLogprobs(body, generationIds) } : null,
            finish_reason: finish,
            stop_reason: null,
            ...(this.#sendsIds(body) && { token_ids: generationIds }),
          },
        ],
      },
    };
  }

  #complete(request: EndpointRequest): EndpointReply {
    const { body } = request;
    const { prompt } = body;
    const promptIds =
      typeof prompt === "string" ? this.tokenizer.encode(prompt) : ((prompt ?? []) as number[]);
    const rejected = this.#overflow(promptIds, body["max_tokens"]);
    if (rejected) return rejected;
    const { text = "", finishReason = "stop" } = this.#options.answer?.(request, 0) ?? {
      text: " and so on.",
    };
    const generationIds = this.#generate(promptIds, text, 0, body);
    const wantsLogprobs = typeof body["logprobs"] === "number";
    return {
      body: {
        ...this.#envelope("text_completion", promptIds, generationIds),
        choices: [
          {
            index: 0,
            text,
            finish_reason: finishReason,
            logprobs: wantsLogprobs
              ? {
                  tokens: generationIds.map((id) => this.#tokenText(body, id)),
                  token_logprobs: generationIds.map(logprobOf),
                  top_logprobs: null,
                  text_offset: [],
                }
              : null,
            ...(this.#sendsIds(body) && { prompt_token_ids: promptIds, token_ids: generationIds }),
          },
        ],
      },
    };
  }

  #generate(promptIds: number[], text: string, turn: number, body: Body): number[] {
    const odd = this.#options.drift?.(turn, body) === "odd-spelling";
    const generationIds = odd ? this.tokenizer.encodeOddly(text) : this.tokenizer.encode(text);
    const continues = turn === 0 ? undefined : this.#finished.hasPrefixOf(turn - 1, promptIds);
    this.#finished.add(turn, [...promptIds, ...generationIds]);
    this.calls.push({ turn, promptIds, generationIds, continues, policyVersion: this.policyVersion });
    return generationIds;
  }

  #overflow(promptIds: readonly number[], asked: unknown): EndpointReply | undefined {
    const { maxModelLen = 32_768 } = this.#options;
    const total = promptIds.length + (typeof asked === "number" ? asked : 1);
    if (total <= maxModelLen) return undefined;
    return failure(
      400,
      "BadRequestError",
      `This model's maximum context length is ${maxModelLen} tokens. However, you requested ${total} tokens.`,
    );
  }

  #sendsIds(body: Body): boolean {
    return body["return_token_ids"] === true && this.#options.returnsTokenIds !== false;
  }

  #tokenText(body: Body, id: number): string {
    return body["return_tokens_as_token_ids"] === true ? `token_id:${id}` : this.tokenizer.decode([id]);
  }

  #chatLogprobs(body: Body, ids: readonly number[]) {
    return ids.map((id) => ({
      token: this.#tokenText(body, id),
      logprob: logprobOf(id),
      bytes: null,
      top_logprobs: [],
    }));
  }

  #envelope(object: string, promptIds: readonly number[], generationIds: readonly number[]) {
    return {
      id: `${object === "text_completion" ? "cmpl" : "chatcmpl"}-${++this.#serial}`,
      object,
      created: CREATED,
      model: this.model,
      ...(this.policyVersion !== undefined && { policy_version: this.policyVersion }),
      usage: {
        prompt_tokens: promptIds.length,
        completion_tokens: generationIds.length,
        total_tokens: promptIds.length + generationIds.length,
        prompt_tokens_details: null,
      },
    };
  }
}

/** The token ids of finished prompts with their generations, by turn. */
class FinishedSequences {
  readonly #byTurn = new Map<number, { texts: Set<string>; lengths: Set<number> }>();

  add(turn: number, ids: readonly number[]): void {
    const known = this.#byTurn.get(turn) ?? { texts: new Set(), lengths: new Set() };
    this.#byTurn.set(turn, known);
    known.texts.add(ids.join());
    known.lengths.add(ids.length);
  }

  hasPrefixOf(turn: number, ids: readonly number[]): boolean {
    const { texts, lengths } = this.#byTurn.get(turn) ?? { texts: new Set(), lengths: new Set<number>() };
    return [...lengths].some((length) => length <= ids.length && texts.has(ids.slice(0, length).join()));
  }
}

function prefixOf(body: Body, last: Message | undefined): number[] | undefined {
  if (Array.isArray(body["required_prefix_token_ids"])) return body["required_prefix_token_ids"] as number[];
  if (!last?.prompt_token_ids || !last.generation_token_ids) return undefined;
  return [...last.prompt_token_ids, ...last.generation_token_ids];
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return (content as { type?: string; text?: string }[])
    .map((part) => part.text ?? `<|${part.type}|>`)
    .join("");
}

function toolsText(tools: unknown): string {
  return Array.isArray(tools) && tools.length > 0
    ? `<|im_start|>tools\n${JSON.stringify(tools)}${END}\n`
    : "";
}

function callText(name: string, args: string): string {
  return `<tool_call>{"name": "${name}", "arguments": ${args}}</tool_call>`;
}

/** An arbitrary number that is always the same for a token. */
function logprobOf(id: number): number {
  return -((id % 97) + 1) / 100;
}

function failure(status: number, type: string, message: string): EndpointReply {
  return { status, body: { object: "error", message, type, param: null, code: status } };
}
