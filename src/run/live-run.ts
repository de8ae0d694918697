import { errorMessage } from "../base/errors.ts";
import type { Collection } from "./collect/collect.ts";
import { openControlSocket } from "./collect/control.ts";
import { ProgressFile } from "./progress-file.ts";
import type { RunEvent } from "./run-events.ts";

/** Shows a run to other programs while it collects: `gym eval ctl`, the viewer and readers of its progress file. */
export async function showingLive<Result>(
  emit: (event: RunEvent) => void,
  run: (emit: (event: RunEvent) => void) => Promise<Result>,
): Promise<Result> {
  const live = new LiveRun((text) => emit({ type: "notice", text }));
  try {
    return await run((event) => {
      live.observe(event);
      emit(event);
    });
  } finally {
    await live.end();
  }
}

class LiveRun {
  readonly #onNotice: (text: string) => void;
  #collection: Collection | undefined;
  #progressFile: ProgressFile | undefined;
  #closeSocket: Promise<() => void> | undefined;

  constructor(onNotice: (text: string) => void) {
    this.#onNotice = onNotice;
  }

  observe(event: RunEvent): void {
    if (event.type === "started") {
      this.#collection = event.collection;
      this.#progressFile = new ProgressFile(event.paths.progress, event.collection);
      this.#closeSocket = this.#openSocket(event.collection, event.paths.output);
    } else if (event.type === "collected") void this.#progressFile?.end(event.result.progress);
    else if (event.type === "server" && event.event.type === "log" && event.event.level === "warn")
      this.#collection?.progress.warned(event.event.server, event.event.line);
  }

  /** Writes the last state and closes the socket. */
  async end(): Promise<void> {
    await this.#progressFile?.end();
    (await this.#closeSocket)?.();
  }

  /** A run that cannot be controlled is still a run. */
  async #openSocket(collection: Collection, output: string): Promise<() => void> {
    try {
      return await openControlSocket(collection, output);
    } catch (error) {
      this.#onNotice(`gym eval ctl cannot reach this run: ${errorMessage(error)}`);
      return () => {};
    }
  }
}
