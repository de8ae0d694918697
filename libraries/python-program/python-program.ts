import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { errorMessage, GymError, type JsonObject } from "nemo-gym";

/** Variables that a Python program needs; all others may hold secrets. */
const PASSED = ["PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "LD_LIBRARY_PATH"];
const MAX_ERROR_TEXT = 4_000;

/** A program did not answer: it cannot start, has ended or took too long. */
export class PythonProgramError extends GymError {
  readonly isLate: boolean;

  constructor(message: string, options: { isLate?: boolean; cause?: unknown } = {}) {
    super("PYTHON_PROGRAM", message, { cause: options.cause });
    this.isLate = options.isLate ?? false;
  }
}

export interface PythonProgramOptions {
  /** The program: it reads one JSON request per line and answers each with one line. */
  file: string;
  python: string;
  /** Folders in which Python looks for modules first. */
  pythonPath?: readonly string[];
  timeoutMs: number;
}

/**
 * A Python program of ours outside of the sandbox, for a library that the user has installed. It is no place for code that a model wrote. It
 * starts with the first request, and anew after it has ended. Requests wait for each other.
 */
export class PythonProgram {
  readonly #options: PythonProgramOptions;
  #running:
    | { child: ChildProcessWithoutNullStreams; lines: AsyncIterator<string>; errors: () => string }
    | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PythonProgramOptions) {
    this.#options = options;
  }

  /** @throws {PythonProgramError} */
  ask(request: object, signal: AbortSignal): Promise<JsonObject> {
    const answer = this.#last.then(() => this.#ask(request, signal));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  close(): void {
    this.#running?.child.kill("SIGKILL");
    this.#running = undefined;
  }

  #start() {
    const { file, python, pythonPath = [] } = this.#options;
    const env = Object.fromEntries(
      PASSED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
    );
    const search = [...pythonPath, process.env["PYTHONPATH"] ?? ""].filter(Boolean).join(path.delimiter);
    const child = spawn(python, ["-B", file], { env: { ...env, PYTHONPATH: search } });
    let text = "";
    const note = (more: unknown) => {
      text = (text + String(more)).slice(-MAX_ERROR_TEXT);
    };
    child.stderr.on("data", note);
    child.on("error", (error) => note(errorMessage(error)));
    // A program that ended shows in its replies.
    child.stdin.on("error", () => {});
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return { child, lines, errors: () => text.trim() };
  }

  async #ask(request: object, signal: AbortSignal): Promise<JsonObject> {
    signal.throwIfAborted();
    this.#running ??= this.#start();
    const { child, lines, errors } = this.#running;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.close();
    }, this.#options.timeoutMs);
    const stop = () => this.close();
    signal.addEventListener("abort", stop, { once: true });
    try {
      child.stdin.write(`${JSON.stringify(request)}\n`);
      // Ends without a line when the program is stopped.
      const next = await lines.next();
      signal.throwIfAborted();
      if (isLate)
        throw new PythonProgramError(`no reply in ${this.#options.timeoutMs / 1000} seconds`, { isLate });
      if (next.done) {
        this.close();
        throw new PythonProgramError(
          `${this.#options.python} ended: ${errors().split("\n").at(-1) || "without a message"}`,
        );
      }
      return JSON.parse(next.value) as JsonObject;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }
}
