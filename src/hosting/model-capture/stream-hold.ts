import {
  type Dialect,
  parseData,
  SseDecoder,
  type StreamOutcome,
  terminalOutcome,
} from "../../wire/stream/sse.ts";

/** The state of a stream that has ended, successfully or not. */
export interface StreamEnd {
  text: string;
  /** The outcome that the stream reported; undefined when it was interrupted. */
  outcome: StreamOutcome | undefined;
  /** When the first frame arrived, as `performance.now()`. */
  firstFrameAt: number | undefined;
  /** The error that the stream threw. */
  failure: { error: unknown } | undefined;
}

/**
 * Forwards the frames of a stream, but holds its last event until `finish` is done, so that a client that has received
 * the end can rely on what `finish` wrote.
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
    // Also reached when the client disconnects.
    await finish(end);
  }
  yield* held;
  if (end.failure) throw end.failure.error;
}

/** Detects the event that ends a stream; a stream that cannot be parsed has none. */
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
