import {
  type Dialect,
  parseData,
  SseDecoder,
  type StreamOutcome,
  terminalOutcome,
} from "../../wire/stream/sse.ts";

/** What went over the wire, when the stream is over one way or another. */
export interface StreamEnd {
  text: string;
  /** How the stream said it ended; undefined when it broke off. */
  outcome: StreamOutcome | undefined;
  /** When the first frame came, on the clock of `performance.now()`. */
  firstFrameAt: number | undefined;
  /** What the stream threw. */
  failure: { error: unknown } | undefined;
}

/**
 * Passes the frames of a stream on as they come, but keeps its last event back until `finish` is done: a client that has seen the
 * end can rely on what `finish` wrote.
 */
export async function* holdLastEvent(
  frames: AsyncIterable<string>,
  dialect: Dialect,
  finish: (end: StreamEnd) => Promise<void>,
): AsyncGenerator<string> {
  const end: StreamEnd = { text: "", outcome: undefined, firstFrameAt: undefined, failure: undefined };
  const watch = new TerminalWatch(dialect);
  const held: string[] = [];
  try {
    for await (const frame of frames) {
      end.firstFrameAt ??= performance.now();
      end.text += frame;
      end.outcome ??= watch.push(frame);
      if (end.outcome === undefined) yield frame;
      else held.push(frame);
    }
  } catch (error) {
    end.failure = { error };
  } finally {
    // Also reached when the client goes away in the middle.
    await finish(end);
  }
  yield* held;
  if (end.failure) throw end.failure.error;
}

/** Looks for the event that ends a stream; a stream it cannot follow has none. */
class TerminalWatch {
  readonly #dialect: Dialect;
  #decoder: SseDecoder | undefined = new SseDecoder();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  push(frame: string): StreamOutcome | undefined {
    try {
      for (const { event, data } of this.#decoder?.push(frame) ?? []) {
        const outcome = terminalOutcome(this.#dialect, { event, data: parseData(data) });
        if (outcome !== undefined) return outcome;
      }
    } catch {
      this.#decoder = undefined;
    }
    return undefined;
  }
}
