import type { Logger } from "../../base/door.ts";
import { errorMessage } from "../../base/errors.ts";
import type { Response } from "../../wire/schemas/door.ts";
import { withinLimit } from "./limits.ts";
import { tokenRecordOf } from "./token-record.ts";
import type { TokenSink } from "./token-sink.ts";

/** Passes the tokens of model calls to a sink. A failure marks the rollout as incomplete, but does not fail the call. */
export class TokenRecorder {
  readonly #sink: TokenSink;
  readonly #log: Logger;

  constructor(sink: TokenSink, log: Logger) {
    this.#sink = sink;
    this.#log = log;
  }

  /** Makes a call and records its tokens before it returns the answer. A failed call stays announced without a record. */
  async record<T>(
    call: { rolloutId: string; modelCallId: string },
    ask: () => Promise<T>,
    read: (answer: T) => Pick<Response, "output" | "model">,
  ): Promise<T> {
    const announced = await this.#guarded(call, () =>
      this.#sink.beginCall?.(call.rolloutId, call.modelCallId),
    );
    const answer = await ask();
    // A record without an announcement would hide that the announcement could not be written.
    if (announced) {
      await this.#guarded(call, () =>
        this.#sink.put(tokenRecordOf(read(answer), { ...call, finishedAt: Date.now() / 1000 })),
      );
    }
    return answer;
  }

  async close(): Promise<void> {
    await this.#sink.close?.();
  }

  async #guarded(
    { rolloutId, modelCallId }: { rolloutId: string; modelCallId: string },
    step: () => Promise<void> | undefined,
  ): Promise<boolean> {
    try {
      await withinLimit(step() ?? Promise.resolve());
      return true;
    } catch (error) {
      this.#log.warn(`the tokens of a call of rollout ${rolloutId} are lost: ${errorMessage(error)}`);
    }
    try {
      await withinLimit(this.#sink.markIncomplete(rolloutId, modelCallId));
    } catch (error) {
      this.#log.warn(`rollout ${rolloutId} cannot be marked as incomplete: ${errorMessage(error)}`);
    }
    return false;
  }
}
