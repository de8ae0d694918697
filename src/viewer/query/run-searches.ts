import { setTimeout as sleep } from "node:timers/promises";
import type { SearchProgress } from "../api-types.ts";
import type { RolloutFile } from "../index/rollout-file.ts";
import type { RowFile } from "./select-rows.ts";
import { TextSearch } from "./text-search.ts";

/** Number of texts whose matches are kept; an evicted search stops. */
const KEPT = 8;
/** How long an answer waits for a search; it then contains the matches so far, and the browser asks again. */
const PATIENCE_MS = 80;

interface Search {
  parts: Map<RowFile, TextSearch>;
  controller: AbortController;
}

export interface Found {
  has: (file: RowFile, row: number, text: string) => boolean;
  progress: SearchProgress;
}

/** Searches through the files of a run, by the text they look for. */
export class RunSearches {
  readonly #files: readonly RolloutFile[];
  readonly #searches = new Map<string, Search>();

  constructor(files: readonly RolloutFile[]) {
    this.#files = files;
  }

  /** Continues searches for a short time and returns their matches so far. */
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
      // A later failure is reported by the next request.
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
