import { writeFile } from "node:fs/promises";
import type { ProgressSnapshot } from "../records/light-door.ts";
import type { Collection } from "./collect/collect.ts";

const WRITE_MS = 2_000;
/** Maximum number of points of the history. */
const MAX_HISTORY = 200;

/** Updates `<stem>_progress.json` for other programs, and for the budget of a resumed run. */
export class ProgressFile {
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  readonly #collection: Collection;
  #history: [seconds: number, completed: number, in_flight: number][] = [];
  #writing: Promise<void> = Promise.resolve();
  #hasEnded = false;

  constructor(path: string, collection: Collection) {
    this.#path = path;
    this.#collection = collection;
    this.#timer = setInterval(() => this.#write(collection.snapshot()), WRITE_MS);
    this.#timer.unref();
    this.#write(collection.snapshot());
  }

  /** Writes the last state, once. The time for metrics and reports after the collection does not count. */
  end(snapshot?: ProgressSnapshot): Promise<void> {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      clearInterval(this.#timer);
      this.#write(snapshot ?? this.#collection.snapshot());
    }
    return this.#writing;
  }

  /** Best effort: a progress file that cannot be written must not fail the run. */
  #write(snapshot: ProgressSnapshot): void {
    this.#note(snapshot);
    const content = { updated_at: new Date().toISOString(), ...snapshot, history: this.#history };
    const text = `${JSON.stringify(content, null, 2)}\n`;
    this.#writing = this.#writing.then(() => writeFile(this.#path, text)).catch(() => {});
  }

  /** Throughput over time: a limited number of points, evenly spread over the whole run. */
  #note({ elapsed_seconds, completed, in_flight }: ProgressSnapshot): void {
    this.#history.push([Number(elapsed_seconds.toFixed(2)), completed, in_flight]);
    if (this.#history.length > MAX_HISTORY)
      this.#history = this.#history.filter((_, place) => place % 2 === 0);
  }
}
