import type { Response, ResponseOutputItem } from "../wire/schemas/responses.ts";

/** Turns in a row without a call and without a message after which a rollout ends, unless the config says otherwise. */
export const MAX_EMPTY_TURNS = 10;

/**
 * Counts the turns in a row that brought nothing to go on with: no call, no message. One is asked again; a model that does it
 * every time would be asked for ever, and paid for.
 */
export class EmptyTurns {
  readonly #most: number;
  #inRow = 0;

  /** `most` of null or 0: without limit. */
  constructor(most: number | null | undefined) {
    this.#most = most || Number.POSITIVE_INFINITY;
  }

  /** Takes note of a turn; true when it was one too many. */
  isOver(output: readonly ResponseOutputItem[]): boolean {
    this.#inRow = output.some(isProgress) ? 0 : this.#inRow + 1;
    return this.#inRow >= this.#most;
  }

  get note(): string {
    return `the model answered ${this.#inRow} times in a row without a message or a call (max_empty_turns); its rollout ends as incomplete`;
  }

  /** The response of a rollout that ends so. */
  ended<T extends Response>(response: T): T & { ng_note: string } {
    return { ...response, status: "incomplete", ng_note: this.note };
  }
}

function isProgress(item: ResponseOutputItem): boolean {
  if (item.type === "message") return (item.role ?? "assistant") === "assistant";
  return item.type === "function_call";
}
