import type { RunEvent as ServerEvent } from "../hosting/processes/run-servers.ts";
import type { EvaluationEvent } from "./evaluate.ts";

/** Events of an evaluation, from the start of the servers to the metrics. */
export type RunEvent =
  | EvaluationEvent
  | { type: "status"; text: string }
  | { type: "server"; event: ServerEvent };

/**
 * The events of one run, in order. Every `for await` receives the events after its start; start it before the first
 * `await` to receive all. It ends with the run, and throws the error that made the run fail.
 */
export class RunEvents implements AsyncIterable<RunEvent> {
  readonly #readers = new Set<Reader>();
  #end: { error?: unknown } | undefined;

  emit(event: RunEvent): void {
    for (const reader of this.#readers) reader.add(event);
  }

  /** Ends the events with this result. If a reader receives a failure, the result's rejection counts as handled. */
  endWith<Result>(result: Promise<Result>): Promise<Result> {
    const ended = result.then(
      (value) => {
        this.#close({});
        return value;
      },
      (error: unknown) => {
        if (this.#readers.size > 0) ended.catch(() => {});
        this.#close({ error });
        throw error;
      },
    );
    return ended;
  }

  #close(end: { error?: unknown }): void {
    this.#end = end;
    for (const reader of this.#readers) reader.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
    const reader = new Reader();
    this.#readers.add(reader);
    try {
      for (;;) {
        yield* reader.take();
        if (reader.isEmpty && this.#end !== undefined) break;
        if (reader.isEmpty) await reader.more();
      }
      if ("error" in this.#end) throw this.#end.error;
    } finally {
      this.#readers.delete(reader);
    }
  }
}

class Reader {
  #events: RunEvent[] = [];
  #wake: (() => void) | undefined;

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  add(event: RunEvent): void {
    this.#events.push(event);
    this.wake();
  }

  take(): RunEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
