import { setTimeout as sleep } from "node:timers/promises";
import type { SearchProgress } from "../api-types.ts";
import type { RolloutFile } from "../index/rollout-file.ts";
import { TextSearch } from "./text-search.ts";

/** Texts whose matches are kept; the search of one that is pushed out stops. */
const KEPT = 8;
/** An answer waits so long for a search; what was found by then is shown, and the browser asks again. */
const PATIENCE_MS = 80;

interface Search {
  parts: Map<RolloutFile, TextSearch>;
  controller: AbortController;
}

export interface Found {
  has: (file: RolloutFile, row: number, text: string) => boolean;
  progress: SearchProgress;
}

/** Searches through the files of a run, by the text they look for. */
export class RunSearches {
  readonly #files: readonly RolloutFile[];
  readonly #searches = new Map<string, Search>();

  constructor(files: readonly RolloutFile[]) {
    this.#files = files;
  }

  /** Goes on with searches for a moment and gives what they have found so far. */
  async advance(texts: readonly string[], signal?: AbortSignal): Promise<Found> {
    const searches = new Map(texts.map((text) => [text, this.#search(text)]));
    const searching = Promise.all(
      [...searches.values()].flatMap(({ parts, controller }) =>
        [...parts.values()].map((part) =>
          part.advance(controller.signal).catch((error: unknown) => {
            if (!controller.signal.aborted) throw error;
          }),
        ),
      ),
    );
    const timer = new AbortController();
    try {
      await Promise.race([
        searching,
        sleep(PATIENCE_MS, undefined, { signal: timer.signal }).catch(() => {}),
      ]);
    } finally {
      timer.abort();
      // What fails later is met again by the next request.
      searching.catch(() => {});
    }
    signal?.throwIfAborted();
    const progress: SearchProgress = { done: true, searched_rows: 0, rows: 0 };
    for (const { parts } of searches.values()) {
      for (const [file, part] of parts) {
        progress.searched_rows += part.searched;
        progress.rows += file.columns.length;
        progress.done &&= part.done;
      }
    }
    return {
      has: (file, row, text) => searches.get(text)?.parts.get(file)?.has(row) ?? false,
      progress,
    };
  }

  stop(): void {
    for (const { controller } of this.#searches.values()) controller.abort();
    this.#searches.clear();
  }

  #search(text: string): Search {
    const known = this.#searches.get(text);
    const search = known ?? {
      parts: new Map(this.#files.map((file) => [file, new TextSearch(file, text)])),
      controller: new AbortController(),
    };
    this.#searches.delete(text);
    this.#searches.set(text, search);
    for (const [oldest, { controller }] of this.#searches) {
      if (this.#searches.size <= KEPT) break;
      controller.abort();
      this.#searches.delete(oldest);
    }
    return search;
  }
}
