import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { errorMessage, GymError, type JsonObject } from "nemo-gym";
import { isObject } from "nemo-gym/python";

/** Variables that a Python program needs; all others may hold secrets. */
const PASSED = ["PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "JAVA_HOME", "LD_LIBRARY_PATH"];
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
  args?: readonly string[];
  python: string;
  /** Folders in which Python looks for modules first. */
  pythonPath?: readonly string[];
  /** Further variables of its environment. */
  env?: Readonly<Record<string, string>>;
  timeoutMs: number;
  /**
   * Whether requests do not wait for each other. They then have an `id`, which the answer repeats, and a cancelled request
   * does not stop the program.
   */
  isConcurrent?: boolean;
}

interface Running {
  child: ChildProcessWithoutNullStreams;
  /** What to do with the answer of each open request, the oldest first; undefined: the program has ended. */
  open: Map<number, (reply: JsonObject | undefined) => void>;
  errors: string;
}

/**
 * A Python program of ours outside of the sandbox, for a library that the user has installed. Code that a model wrote must not run in it. It
 * starts with the first request, and anew after it has ended.
 */
export class PythonProgram {
  readonly #options: PythonProgramOptions;
  #running: Running | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #asked = 0;

  constructor(options: PythonProgramOptions) {
    this.#options = options;
  }

  /** @throws {PythonProgramError} */
  ask(request: object, signal: AbortSignal): Promise<JsonObject> {
    if (this.#options.isConcurrent) return this.#ask(request, signal);
    const answer = this.#last.then(() => this.#ask(request, signal));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  close(): void {
    this.#running?.child.kill("SIGKILL");
    this.#running = undefined;
  }

  #start(): Running {
    const { file, args = [], python, pythonPath = [], env: own } = this.#options;
    const env = Object.fromEntries(
      PASSED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
    );
    const search = [...pythonPath, process.env["PYTHONPATH"] ?? ""].filter(Boolean).join(path.delimiter);
    const child = spawn(python, ["-B", file, ...args], { env: { ...env, PYTHONPATH: search, ...own } });
    const running: Running = { child, open: new Map(), errors: "" };
    const note = (more: unknown) => {
      running.errors = (running.errors + String(more)).slice(-MAX_ERROR_TEXT);
    };
    child.stderr.on("data", note);
    child.on("error", (error) => note(errorMessage(error)));
    // A program that ended shows in its replies.
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", (line) => {
      const reply = readReply(line);
      if (reply === undefined) {
        note(`\nit wrote something other than an answer: ${line.slice(0, 200)}`);
        child.kill("SIGKILL");
        return;
      }
      const [oldest] = running.open.keys();
      running.open.get(this.#options.isConcurrent ? Number(reply["id"]) : (oldest ?? 0))?.(reply);
    });
    child.on("close", () => {
      if (this.#running === running) this.#running = undefined;
      for (const settle of running.open.values()) settle(undefined);
    });
    return running;
  }

  async #ask(request: object, signal: AbortSignal): Promise<JsonObject> {
    signal.throwIfAborted();
    this.#running ??= this.#start();
    const running = this.#running;
    const { isConcurrent, python, timeoutMs } = this.#options;
    const id = ++this.#asked;
    let isLate = false;
    let stop = () => this.close();
    const timer = setTimeout(() => {
      isLate = true;
      running.child.kill("SIGKILL");
    }, timeoutMs);
    try {
      const reply = await new Promise<JsonObject | undefined>((resolve) => {
        running.open.set(id, resolve);
        if (isConcurrent) stop = () => resolve(undefined);
        signal.addEventListener("abort", stop, { once: true });
        running.child.stdin.write(`${JSON.stringify(isConcurrent ? { id, ...request } : request)}\n`);
      });
      signal.throwIfAborted();
      if (isLate) throw new PythonProgramError(`no reply in ${timeoutMs / 1000} seconds`, { isLate });
      if (reply === undefined) {
        const reason = running.errors.trim().split("\n").at(-1) || "without a message";
        throw new PythonProgramError(`${python} ended: ${reason}`);
      }
      return reply;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      running.open.delete(id);
    }
  }
}

function readReply(line: string): JsonObject | undefined {
  try {
    const reply: unknown = JSON.parse(line);
    return isObject(reply) ? reply : undefined;
  } catch {
    return undefined;
  }
}
