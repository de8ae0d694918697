import type { Usage } from "../../../wire/convert/door.ts";
import { newId } from "../../../wire/door.ts";
import type { ResponseOutputItem } from "../../../wire/schemas/door.ts";
import { messageOf } from "../response-of.ts";

/** Token counts that a harness reports; null for details that it does not report. */
export interface ReportedUsage {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number | null;
  reasoningTokens?: number | null;
}

/** Collects the events of a harness as the output items of a Response. */
export class Transcript {
  readonly items: ResponseOutputItem[] = [];
  /** Errors that the harness reported about itself or its model calls. */
  readonly errors: string[] = [];
  usage: Usage | null = null;
  /** Why the harness stopped without an answer, such as `max_turns`. */
  incompleteReason: string | undefined;
  readonly #openCalls = new Map<string, { name: string; input: unknown }>();
  #thinking: string[] = [];
  readonly #onItems: ((items: readonly ResponseOutputItem[]) => void) | undefined;

  constructor(onItems?: (items: readonly ResponseOutputItem[]) => void) {
    this.#onItems = onItems;
  }

  /** Adds reasoning. It is written before the next message, between think tags. */
  reasoning(text: string): void {
    if (text.trim() !== "") this.#thinking.push(text);
  }

  message(text: string): void {
    const whole = text === "" ? this.#takeThinking().trimEnd() : this.#takeThinking() + text;
    if (whole !== "") this.#add(messageOf(whole));
  }

  /** Adds the message of a turn, even if it is empty, with its token ids. */
  turn(text: string, tokens: object = {}): void {
    this.#add({ ...messageOf(this.#takeThinking() + text), ...tokens });
  }

  /** A tool call begins. It becomes an item when its output arrives. Calls without an output are dropped. */
  callStarted(callId: string, name: string, input: unknown): void {
    this.#openCalls.set(callId, { name, input });
  }

  callFinished(callId: string, output: string, failed = false): void {
    const call = this.#openCalls.get(callId);
    if (call === undefined) return;
    this.#openCalls.delete(callId);
    this.call(callId, call.name, call.input, output, failed);
  }

  /** Adds a tool call with its output; undefined if it has none. */
  call(
    callId = newId("call"),
    name: string,
    input: unknown,
    output: string | undefined,
    failed = false,
  ): void {
    this.message("");
    this.#add({
      type: "function_call",
      call_id: callId,
      name,
      arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}),
      status: failed ? "incomplete" : "completed",
    });
    if (output !== undefined) this.output(callId, output);
  }

  /** Adds the output of an earlier call. */
  output(callId: string, output: string): void {
    this.#add({ type: "function_call_output", call_id: callId, output });
  }

  addUsage({ inputTokens, outputTokens, cachedTokens = null, reasoningTokens = null }: ReportedUsage): void {
    const earlier = this.usage;
    const sum = (left: number | null | undefined, right: number | null) =>
      left == null ? right : left + (right ?? 0);
    const input = (earlier?.input_tokens ?? 0) + inputTokens;
    const output = (earlier?.output_tokens ?? 0) + outputTokens;
    this.usage = {
      input_tokens: input,
      input_tokens_details: {
        cached_tokens: sum(earlier?.input_tokens_details.cached_tokens, cachedTokens),
      },
      output_tokens: output,
      output_tokens_details: {
        reasoning_tokens: sum(earlier?.output_tokens_details.reasoning_tokens, reasoningTokens),
      },
      total_tokens: input + output,
    };
  }

  /** The items. Reasoning after the last message becomes a message of its own. */
  finish(): ResponseOutputItem[] {
    this.message("");
    return this.items;
  }

  #add(...items: readonly ResponseOutputItem[]): void {
    this.items.push(...items);
    this.#onItems?.(items);
  }

  #takeThinking(): string {
    const texts = this.#thinking;
    this.#thinking = [];
    return texts.map((text) => `<think>\n${text}\n</think>\n\n`).join("");
  }
}
