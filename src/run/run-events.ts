import type { HealthReport } from "../records/results/light-door.ts";
import type { ServersEvent as ServerEvent } from "../servers/hosting/door.ts";
import type { EvaluationEvent } from "./run.ts";

/** Events of an evaluation, from the start of the servers to the metrics. */
export type RunEvent =
  | EvaluationEvent
  | { type: "status"; text: string }
  | { type: "health"; report: HealthReport }
  | { type: "server"; event: ServerEvent };

/** Starts a run and returns its events and its result. */
export function withEvents<Result, Event = RunEvent>(
  run: (emit: (event: Event) => void) => Promise<Result>,
): { events: AsyncIterable<Event>; result: Promise<Result> } {
  const events = new Events<Event>();
  // The run starts in a microtask, so that a reader of the events can subscribe before the first one.
  const running = Promise.resolve().then(() => run((event) => events.emit(event)));
  const result = running.then(
    (value) => {
      events.end({});
      return value;
    },
    (error: unknown) => {
      // A reader throws the error, so the rejection of the result counts as handled.
      if (events.hasReaders) result.catch(() => {});
      events.end({ error });
      throw error;
    },
  );
  return { events, result };
}

class Events<Event> implements AsyncIterable<Event> {
  /** The events that each reader has not read yet. */
  readonly #unread = new Set<Event[]>();
  /** Resume the readers that wait for events. */
  readonly #waiting: (() => void)[] = [];
  #end: { error?: unknown } | undefined;

  get hasReaders(): boolean {
    return this.#unread.size > 0;
  }

  emit(event: Event): void {
    for (const unread of this.#unread) unread.push(event);
    this.#wake();
  }

  end(end: { error?: unknown }): void {
    this.#end = end;
    this.#wake();
  }

  #wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    const unread: Event[] = [];
    this.#unread.add(unread);
    try {
      for (;;) {
        yield* unread.splice(0);
        if (unread.length > 0) continue;
        if (this.#end !== undefined) break;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
      if ("error" in this.#end) throw this.#end.error;
    } finally {
      this.#unread.delete(unread);
    }
  }
}
