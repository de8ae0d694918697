/**
 * Asks a language model for a judgement. A failed call to a judge fails the rollout (`JudgeError`); it never gives a
 * reward of 0. The functions of judge-verdict.ts read its reply.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { HttpError, JudgeError } from "../../../base/door.ts";
import { errorMessage } from "../../../base/errors.ts";
import { strip } from "../../../base/python/door.ts";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { traced } from "../../../base/telemetry/light-door.ts";
import { Semaphore } from "../../../base/transport/light-door.ts";
import type { ResponseOutputItem } from "../../../wire/schemas/door.ts";
import { ServerCallError } from "../../calls/errors.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import { LruCache } from "../lru-cache.ts";
import { lastTextMessage } from "../response-text.ts";
import { countJudgeCall, countUnreadable, noteCachedAnswer, noteVotes } from "./judge-tally.ts";

const MAX_QUOTED_BODY = 500;
/** Maximum number of characters of cached answers, regardless of the number of entries. */
const MAX_CACHE_CHARS = 64 * 1024 * 1024;

export interface JudgeMessage {
  role: "system" | "developer" | "user" | "assistant";
  content: string;
}

export interface JudgeOptions {
  /** Name of the judge's model server. */
  modelServer: string;
  /** Base of every request; `input` (or `messages`) is replaced. */
  params?: JsonObject | null;
  /** `chat` asks `/v1/chat/completions`; default: `/v1/responses`. */
  api?: "responses" | "chat";
  /** A chat completion without choices is an empty text, not a failure. */
  allowNoChoices?: boolean;
  /** Prepended to every prompt that is given as plain text. */
  systemMessage?: string | null;
  /** Maximum number of concurrent calls; null: no limit. */
  maxConcurrency?: number | null;
  /** Time limit of one call including retries, in milliseconds; null or absent: the limits of the client. */
  timeoutMs?: number | null;
  /** Number of answers cached by content; 0 disables the cache. */
  cacheEntries?: number;
  /** `fit` truncates values with more characters; null: never. */
  maxValueChars?: number | null;
}

export interface AskOptions {
  signal?: AbortSignal;
  /** Merged over the base parameters for this call. */
  params?: JsonObject;
  /** Used for this call instead of the judge's own. */
  systemMessage?: string | null;
  /** The request whose result reports the call, if it is not the one of `signal`: a call for several rollouts at once. */
  countedFor?: AbortSignal;
}

/** Reads the verdict from a reply; null without a verdict. The run summary counts replies without a verdict. */
export type ReadVerdict<Verdict> = (text: string, reply: JudgeReply) => Verdict | null;

/** The request to a judge and its reply. */
export interface JudgeReply {
  /** The request body. */
  readonly params: JsonObject;
  /** The reply body as received. */
  readonly response: JsonObject;
  /**
   * The output items as received; a chat completion is read as one message. The readers of `nemo-gym/openai` and
   * `nemo-gym/verify` accept the whole reply.
   */
  readonly output: readonly ResponseOutputItem[];
  /** The text of the judge's last message, stripped. */
  readonly text: string;
}

export interface VoteResult<Verdict> {
  /** The verdict of most calls; null when none could be read or the two most frequent are tied. */
  verdict: Verdict | null;
  verdicts: (Verdict | null)[];
  replies: JudgeReply[];
}

type CallContext = Pick<ServerContext, "client">;

/** One judge endpoint with its limits. Create one per server instance (`perServer`). */
export class Judge {
  readonly options: JudgeOptions;
  readonly #client: CallContext["client"];
  readonly #slots: Semaphore;
  readonly #cache: LruCache<JsonObject> | undefined;

  constructor(server: CallContext, options: JudgeOptions) {
    this.options = options;
    this.#client = server.client;
    this.#slots = new Semaphore(options.maxConcurrency ?? null);
    if (options.cacheEntries) this.#cache = new LruCache(options.cacheEntries, MAX_CACHE_CHARS);
  }

  /** Truncates a value that is too long for the judge (`maxValueChars`). */
  fit(value: string): string {
    const { maxValueChars } = this.options;
    return maxValueChars == null ? value : truncateText(value, maxValueChars);
  }

  /**
   * Asks once. A plain text becomes a user message after the system message, if there is one. With `parse` the reply has
   * the `verdict` it reads.
   *
   * @throws {JudgeError} when the judge cannot be reached, answers with an error or without output.
   */
  ask<Verdict>(
    prompt: string | readonly JudgeMessage[],
    options: AskOptions & { parse: ReadVerdict<Verdict> },
  ): Promise<JudgeReply & { verdict: Verdict | null }>;
  ask(prompt: string | readonly JudgeMessage[], options?: AskOptions): Promise<JudgeReply>;
  async ask(
    prompt: string | readonly JudgeMessage[],
    { parse, ...options }: AskOptions & { parse?: ReadVerdict<unknown> } = {},
  ): Promise<JudgeReply & { verdict?: unknown }> {
    const reply = await this.#ask(prompt, options, "");
    return parse ? { ...reply, verdict: read(reply, parse, options.countedFor ?? options.signal) } : reply;
  }

  /**
   * Asks `votes` times at once and returns the verdict of most replies; replies without a verdict do not count.
   *
   * @throws {JudgeError} when one of the calls fails.
   */
  async vote<Verdict extends string | number | boolean>(
    prompt: string | readonly JudgeMessage[],
    options: AskOptions & { votes: number; parse: ReadVerdict<Verdict> },
  ): Promise<VoteResult<Verdict>> {
    const calls = Array.from({ length: options.votes }, (_, index) => this.#ask(prompt, options, `${index}`));
    const replies = await Promise.all(calls);
    const countedFor = options.countedFor ?? options.signal;
    const verdicts = replies.map((reply) => read(reply, options.parse, countedFor));
    noteVotes(countedFor, verdicts);
    return { verdict: majority(verdicts), verdicts, replies };
  }

  async #ask(
    prompt: string | readonly JudgeMessage[],
    options: AskOptions,
    cacheSalt: string,
  ): Promise<JudgeReply> {
    const messages = typeof prompt === "string" ? this.#messages(prompt, options) : prompt;
    const chat = this.options.api === "chat";
    const params: JsonObject = {
      ...this.options.params,
      ...options.params,
      [chat ? "messages" : "input"]: messages,
    };
    const path = chat ? "/v1/chat/completions" : "/v1/responses";
    const key = this.#cache && contentKey(path, params, cacheSalt);
    const cached = key === undefined ? undefined : this.#cache?.get(key);
    const body =
      cached ?? (await this.#slots.run(() => this.#call(path, params, options.signal), options.signal));
    const countedFor = options.countedFor ?? options.signal;
    if (cached) noteCachedAnswer(countedFor, this.options.modelServer, body);
    else countJudgeCall(countedFor, this.options.modelServer, body);
    const reply = chat ? this.#readChat(params, body) : this.#readResponse(params, body);
    if (key !== undefined && !cached) this.#cache?.set(key, body, JSON.stringify(body).length);
    return reply;
  }

  #messages(text: string, { systemMessage = this.options.systemMessage }: AskOptions): JudgeMessage[] {
    const user: JudgeMessage = { role: "user", content: text };
    return systemMessage ? [{ role: "system", content: systemMessage }, user] : [user];
  }

  #call(path: string, params: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    const attributes = { "nemo.gym.judge.server.name": this.options.modelServer };
    return traced("verify", "gym.judge", () => this.#post(path, params, signal), { attributes });
  }

  async #post(path: string, params: JsonObject, signal: AbortSignal | undefined): Promise<JsonObject> {
    const { modelServer, timeoutMs } = this.options;
    try {
      const options = { signal, idempotent: true, timeoutMs: timeoutMs || undefined };
      const reply = await this.#client.post(modelServer, path, params, options);
      if (!reply.ok) throw httpFailure(modelServer, path, reply.status, reply.text());
      const body = reply.json();
      if (typeof body !== "object" || body === null || Array.isArray(body)) {
        throw new JudgeError(
          `Judge '${modelServer}' ${path} answered with something that is not a JSON object.`,
        );
      }
      return body as JsonObject;
    } catch (error) {
      // A cancelled call throws the reason of its signal, not a failure of the judge.
      signal?.throwIfAborted();
      if (error instanceof JudgeError) throw error;
      throw new JudgeError(`Judge '${modelServer}' ${path}: ${errorMessage(error)}`, { cause: error });
    }
  }

  #readResponse(params: JsonObject, body: JsonObject): JudgeReply {
    const { output } = body;
    if (!Array.isArray(output)) throw this.#noOutput("/v1/responses", "output");
    return {
      params,
      response: body,
      output: output as ResponseOutputItem[],
      text: lastTextMessage({ output }),
    };
  }

  #readChat(params: JsonObject, body: JsonObject): JudgeReply {
    const choices = body["choices"] as { message?: { content?: unknown } }[] | undefined;
    const isEmpty = this.options.allowNoChoices && Array.isArray(choices) && choices.length === 0;
    const message = isEmpty ? {} : choices?.[0]?.message;
    if (!message) throw this.#noOutput("/v1/chat/completions", "choices[0].message");
    const text = typeof message.content === "string" ? message.content : "";
    const part = { type: "output_text", text, annotations: [] };
    const item = { id: "", type: "message", role: "assistant", status: "completed", content: [part] };
    return { params, response: body, output: [item as ResponseOutputItem], text: strip(text) };
  }

  #noOutput(path: string, missing: string): JudgeError {
    return new JudgeError(`Judge '${this.options.modelServer}' ${path} answered without '${missing}'.`);
  }
}

/** Creates a judge from the config keys of `judgeConfig`; `options` take precedence. */
export function createJudge(
  server: CallContext,
  config: JudgeConfig,
  options: Partial<JudgeOptions> = {},
): Judge {
  return new Judge(server, {
    modelServer: config.judge_model_server,
    params: config.judge_responses_create_params ?? {},
    maxConcurrency: config.judge_endpoint_max_concurrency,
    timeoutMs: config.judge_timeout_seconds ? config.judge_timeout_seconds * 1000 : null,
    cacheEntries: config.judge_cache_entries,
    maxValueChars: config.judge_max_value_chars ?? null,
    ...options,
  });
}

/** HTTP status behind a judge failure, for environments that treat some of them differently. */
export function judgeErrorStatus(error: unknown): number | undefined {
  const cause = error instanceof JudgeError ? error.cause : undefined;
  return cause instanceof HttpError || cause instanceof ServerCallError ? cause.status : undefined;
}

/** The error for a reply without content, for environments that count it as a failure of the judge. */
export function requireJudgeText(reply: JudgeReply, text = reply.text): string {
  if (text === "") throw new JudgeError("The judge answered with an empty text.");
  return text;
}

function read<Verdict>(
  reply: JudgeReply,
  parse: ReadVerdict<Verdict>,
  signal: AbortSignal | undefined,
): Verdict | null {
  const verdict = parse(reply.text, reply);
  if (verdict === null) countUnreadable(signal);
  return verdict;
}

function majority<Verdict>(verdicts: readonly (Verdict | null)[]): Verdict | null {
  const counts = new Map<Verdict, number>();
  for (const verdict of verdicts) if (verdict !== null) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  let best: Verdict | null = null;
  let bestCount = 0;
  for (const [verdict, count] of counts) {
    if (count === bestCount) best = null;
    else if (count > bestCount) {
      best = verdict;
      bestCount = count;
    }
  }
  return best;
}

function contentKey(path: string, params: JsonObject, salt: string): string {
  return createHash("sha256")
    .update(`${path}\0${salt}\0${JSON.stringify(params)}`)
    .digest("base64");
}

function httpFailure(server: string, path: string, status: number, text: string): JudgeError {
  const message = `Judge '${server}' ${path} answered ${status}: ${text.slice(0, MAX_QUOTED_BODY)}`;
  return new JudgeError(message, { cause: new HttpError(status, message) });
}

/**
 * Cuts the middle out of a text that is too long for a judge's context and states how much is missing. Never splits a
 * surrogate pair.
 */
function truncateText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const headLength = Math.floor(maxChars / 2);
  const tailLength = maxChars - headLength;
  const headEnd = isPairAt(text, headLength) ? headLength - 1 : headLength;
  const tailStart = isPairAt(text, text.length - tailLength)
    ? text.length - tailLength + 1
    : text.length - tailLength;
  const note = `[${tailStart - headEnd} characters omitted]`;
  return [text.slice(0, headEnd), note, text.slice(tailStart)].filter((part) => part !== "").join("\n");
}

function isPairAt(text: string, index: number): boolean {
  return index > 0 && index < text.length && (text.codePointAt(index - 1) ?? 0) > 0xffff;
}

/** A reference to another server of the run, as configs write it: `{ type, name }`, or only the name. */
const ServerReference = z.union([
  z.string(),
  z.looseObject({ name: z.string() }).transform(({ name }) => name),
]);

/**
 * The config keys of every environment with a judge; spread them into its `config` schema. The first three come from
 * the Python original; the others are off by default.
 *
 * @example
 * const config = z.object({ ...judgeConfig, judge_equal_label: z.string().default("[[A=B]]") });
 */
export const judgeConfig = {
  judge_model_server: ServerReference,
  /** Base of every request; the messages are added to it. */
  judge_responses_create_params: z.record(z.string(), z.unknown()).nullish(),
  /** Maximum number of concurrent calls; null: no limit. */
  judge_endpoint_max_concurrency: z.number().int().positive().nullable().default(64),
  /** Time limit of one call including retries, in seconds; null: only the limits of the client. */
  judge_timeout_seconds: z.number().positive().nullish(),
  /** Number of answers cached by content. Only useful for a deterministic judge. */
  judge_cache_entries: z.number().int().nonnegative().default(0),
  /** Longer values are truncated in the middle before they are inserted into a prompt; null: never. */
  judge_max_value_chars: z.number().int().positive().nullish(),
};

const JudgeConfig = z.object(judgeConfig);
export type JudgeConfig = z.output<typeof JudgeConfig>;
