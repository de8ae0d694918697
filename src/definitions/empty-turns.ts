import type { Response, ResponseOutputItem } from "../wire/schemas/responses.ts";

/** Turns in a row without a call and without a message after which a rollout ends, unless the config says otherwise. */
export const MAX_EMPTY_TURNS = 10;

/**
 * Counts consecutive turns without a call and without a message. After one the model is asked again; a model that does it
 * every time would be asked, and paid for, without end.
 */
export class EmptyTurns {
  readonly #most: number;
  #inRow = 0;

  /** `most` of null or 0: without limit. */
  constructor(most: number | null | undefined) {
    this.#most = most || Number.POSITIVE_INFINITY;
  }

  /** Counts a turn. Returns true when the limit is reached. */
  isOver(output: readonly ResponseOutputItem[]): boolean {
    this.#inRow = output.some(isProgress) ? 0 : this.#inRow + 1;
    return this.#inRow >= this.#most;
  }

  get note(): string {
    return `the model answered ${this.#inRow} times in a row without a message or a call (max_empty_turns); its rollout ends as incomplete`;
  }

  /** The response of a rollout that ends at the limit. */
  ended<T extends Response>(response: T): T & { ng_note: string } {
    return { ...response, status: "incomplete", ng_note: this.note };
  }
}

function isProgress(item: ResponseOutputItem): boolean {
  if (item.type === "message") return (item.role ?? "assistant") === "assistant";
  return item.type === "function_call";
}
