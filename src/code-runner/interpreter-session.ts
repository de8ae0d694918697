import type { JsonObject } from "../python/json/json-object.ts";
import type { FairSlots } from "./fair-slots.ts";
import type { Answer, Interpreter } from "./interpreter.ts";

interface SessionParts {
  start: () => Promise<Interpreter>;
  slots: FairSlots;
  key: string;
  onClosed: () => void;
}

/** An interpreter that keeps its state between requests. It starts with the first, and again after one that ended it. */
export class InterpreterSession {
  readonly #parts: SessionParts;
  #interpreter: Promise<Interpreter> | undefined;
  /** Requests of one session run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  ask(
    request: JsonObject,
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<Answer> {
    const { slots, key } = this.#parts;
    const turn = this.#last.then(() => slots.run(key, () => this.#ask(request, options), options.signal));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    this.#parts.onClosed();
    await this.#stop();
  }

  async #ask(
    request: JsonObject,
    options: { timeoutMs: number; signal?: AbortSignal | undefined },
  ): Promise<Answer> {
    this.#interpreter ??= this.#parts.start();
    let answer: Answer | undefined;
    try {
      answer = await (await this.#interpreter).ask(request, options);
      return answer;
    } finally {
      if (answer?.status !== "answered") await this.#stop();
    }
  }

  async #stop(): Promise<void> {
    const interpreter = this.#interpreter;
    this.#interpreter = undefined;
    // An interpreter that could not start has already reported the error to its caller.
    await interpreter?.then((started) => started.stop()).catch(() => undefined);
  }
}
