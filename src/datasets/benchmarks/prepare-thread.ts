import { extname } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { GymError } from "../../errors.ts";
import { RemoteError } from "../../remote/errors.ts";
import type { HubAccess } from "../../remote/hub-access.ts";
import { DatasetError } from "../errors.ts";
import type { PrepareArgs } from "./prepare-script.ts";

/** Time for a script to stop after its signal is aborted. */
const STOP_GRACE_MS = 1_000;

export interface PrepareRun {
  readonly args: PrepareArgs;
  readonly benchmark: string;
  readonly outputPath: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly python: string;
  readonly hub: Pick<HubAccess, "token" | "hubUrl" | "retries">;
}

export type ToWorker = { readonly type: "abort" } | { readonly type: "run"; readonly run: PrepareRun };

export type ToParent =
  | { readonly type: "loaded" }
  | { readonly type: "log"; readonly line: string }
  | { readonly type: "retry"; readonly message: string; readonly delayMs: number }
  | { readonly type: "result"; readonly path: string | undefined; readonly shown: string }
  | { readonly type: "failed"; readonly message: string; readonly code?: string | undefined };

export interface ThreadEvents {
  readonly log: (line: string) => void;
  readonly onRetry?: HubAccess["onRetry"];
}

/**
 * A prepare script in its own thread: even with an endless loop or `process.exit()`, this thread stays in control
 * and can end it.
 */
export class PrepareThread {
  readonly #worker: Worker;
  readonly #file: string;
  readonly #signal: AbortSignal;
  readonly #stop: () => void;
  #killer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  #events: ThreadEvents = { log: () => {} };
  /** Output printed while loading, before there is a listener. */
  #early: string[] = [];

  private constructor(file: string, signal: AbortSignal) {
    this.#file = file;
    this.#signal = signal;
    const suffix = extname(fileURLToPath(import.meta.url));
    this.#worker = new Worker(new URL(`./prepare-worker${suffix}`, import.meta.url), {
      name: "prepare",
      workerData: { file },
      execArgv: suffix === ".ts" ? ["--import", "jiti/register"] : [],
      stdout: true,
      stderr: true,
    });
    this.#events = { log: (line) => this.#early.push(line) };
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      onLines(stream, (line) => this.#events.log(line));
    this.#worker.once("exit", () => {
      this.#hasEnded = true;
    });
    this.#stop = () => {
      this.#post({ type: "abort" });
      this.#killer = setTimeout(() => void this.#worker.terminate(), STOP_GRACE_MS);
    };
    signal.addEventListener("abort", this.#stop, { once: true });
  }

  /** Loads the script; fails with its problem. */
  static async load(file: string, signal: AbortSignal): Promise<PrepareThread> {
    signal.throwIfAborted();
    const thread = new PrepareThread(file, signal);
    try {
      await thread.#answer("loaded", "ended the program while it was loaded");
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /** Calls `prepare` and returns its path, or the text of a value that is not a path. */
  async run(run: PrepareRun, events: ThreadEvents): Promise<{ path: string | undefined; shown: string }> {
    this.#events = events;
    for (const line of this.#early.splice(0)) events.log(line);
    try {
      const answer = this.#answer("result", "ended the program before `prepare` gave a path");
      this.#post({ type: "run", run });
      return await answer;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#killer);
    this.#signal.removeEventListener("abort", this.#stop);
    await this.#worker.terminate();
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #answer<T extends "loaded" | "result">(wanted: T, ended: string): Promise<Extract<ToParent, { type: T }>> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(this.#signal.aborted ? this.#signal.reason : error);
      const hear = (message: ToParent) => {
        if (message.type === "log") this.#events.log(message.line);
        else if (message.type === "retry")
          this.#events.onRetry?.(new RemoteError("REMOTE_UNREACHABLE", message.message), message.delayMs);
        else if (message.type === "failed") fail(failure(message));
        else if (message.type === wanted) {
          this.#worker.off("message", hear);
          resolve(message as Extract<ToParent, { type: T }>);
        }
      };
      this.#worker.on("message", hear);
      this.#worker.once("error", fail);
      const failEnded = () =>
        fail(new DatasetError("BENCHMARK_SCRIPT", `${this.#file} ${ended} (process.exit?).`));
      // While it waited for its turn.
      if (this.#hasEnded) failEnded();
      else this.#worker.once("exit", failEnded);
    });
  }
}

function failure({ code, message }: { code?: string | undefined; message: string }): Error {
  return code === undefined ? new Error(message) : new GymError(code, message);
}

function onLines(stream: Readable, line: (text: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const found of lines) line(found);
  });
  stream.on("end", () => {
    if (rest !== "") line(rest);
  });
}
