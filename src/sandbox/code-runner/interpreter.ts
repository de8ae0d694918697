import { parseJson, shellQuote } from "../../base/door.ts";
import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import type { Semaphore } from "../../base/transport/light-door.ts";
import type { SandboxExecResult, SandboxProcess } from "../provider.ts";
import type { Sandbox } from "../sandbox.ts";
import { sandboxUnavailable } from "./errors.ts";

const START_TIMEOUT_MS = 30_000;
/** Limit of one reply. The Python programs shorten their reports themselves. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** The outcome of a request: a reply, or the reason why there is none. Without a reply the interpreter cannot be used again. */
export type Answer =
  | { status: "answered"; value: JsonObject }
  | { status: "timeout" }
  /** The process ended, for example by the code itself or because of its memory use. */
  | { status: "ended"; result: SandboxExecResult };

interface AskOptions {
  timeoutMs: number;
  signal?: AbortSignal;
}

/** A program in its own sandbox that answers requests. Requests and replies are one line of JSON each. */
export class Interpreter {
  readonly #sandbox: Sandbox;
  readonly #process: SandboxProcess;
  #received: Buffer[] = [];
  #size = 0;
  #stopped = false;
  #onReply: ((line: string) => void) | undefined;
  #tooLong: (() => void) | undefined;

  private constructor(sandbox: Sandbox, process: SandboxProcess) {
    this.#sandbox = sandbox;
    this.#process = process;
    process.stdin.on("error", () => undefined);
    process.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
  }

  /** Starts Python with a program that first prints `{"ready": true}`. */
  static async start(sandbox: Sandbox, source: string, python: string): Promise<Interpreter> {
    const interpreter = new Interpreter(
      sandbox,
      await sandbox.startProcess(`exec ${shellQuote(python)} -I -B -c ${shellQuote(source)}`),
    );
    const ready = await interpreter.#next({ timeoutMs: START_TIMEOUT_MS });
    if (ready.status === "answered") return interpreter;
    if (ready.status === "timeout")
      throw new Error("Python could not be started in the sandbox: it did not start in time");
    const { stderr, return_code } = ready.result;
    const missing = return_code === 127 || return_code === 126;
    const hint = missing
      ? `. The sandbox has its own /tmp and /home. If '${python}' is not below /usr, add its directory to read_only_paths of the sandbox.`
      : "";
    throw new Error(`Python could not be started in the sandbox: ${stderr?.trim()}${hint}`);
  }

  /** Sends a request and waits for its reply. The caller must wait before the next request. */
  async ask(request: JsonObject, options: AskOptions): Promise<Answer> {
    options.signal?.throwIfAborted();
    const answer = this.#next(options);
    this.#process.stdin.write(`${JSON.stringify(request)}\n`);
    return answer;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#sandbox.stop();
  }

  #next({ timeoutMs, signal }: AskOptions): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // The timer keeps this process alive; the sandboxed process does not.
      const timer = setTimeout(() => {
        this.#process.kill();
        settle(() => resolve({ status: "timeout" }));
      }, timeoutMs);
      const giveUp = () => {
        this.#process.kill();
        settle(() => reject(signal?.reason));
      };
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", giveUp);
        this.#onReply = undefined;
        this.#tooLong = undefined;
        finish();
      };
      signal?.addEventListener("abort", giveUp);
      this.#tooLong = () => {
        this.#process.kill();
        settle(() => resolve(endedWith(`The reply was longer than ${MAX_REPLY_BYTES} bytes.`, 137)));
      };
      this.#onReply = (line) => settle(() => resolve(readAnswer(line)));
      void this.#process.ended.then((result) =>
        settle(() => {
          if (result.error_type === "sandbox" && !this.#stopped)
            reject(sandboxUnavailable(new Error(result.stderr ?? "")));
          else resolve({ status: "ended", result });
        }),
      );
    });
  }

  #read(chunk: Buffer): void {
    const end = chunk.indexOf(10);
    this.#received.push(end < 0 ? chunk : chunk.subarray(0, end));
    this.#size += chunk.length;
    if (this.#size > MAX_REPLY_BYTES) this.#tooLong?.();
    if (end < 0) return;
    const line = Buffer.concat(this.#received).toString("utf8");
    const rest = chunk.subarray(end + 1);
    this.#received = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    this.#onReply?.(line);
  }
}

/** A line that is not a JSON object comes from the code that runs, not from the harness. */
function readAnswer(line: string): Answer {
  const value = parseJson(line);
  return isObject(value) ? { status: "answered", value } : endedWith("The reply is not a JSON object.", 1);
}

function endedWith(stderr: string, return_code: number): Answer {
  return { status: "ended", result: { stdout: "", stderr, return_code, error_type: null } };
}

interface SessionParts {
  start: () => Promise<Interpreter>;
  slots: Semaphore;
  key: string;
  onClosed: () => void;
}

/** An interpreter that keeps its state between requests. It starts with the first request, and again after a request that ended it. */
export class InterpreterSession {
  readonly #parts: SessionParts;
  #interpreter: Promise<Interpreter> | undefined;
  /** Requests of one session run one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  ask(request: JsonObject, options: AskOptions): Promise<Answer> {
    const { slots, key } = this.#parts;
    const turn = this.#last.then(() => slots.run(() => this.#ask(request, options), options.signal, key));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    this.#parts.onClosed();
    await this.#stop();
  }

  async #ask(request: JsonObject, options: AskOptions): Promise<Answer> {
    this.#interpreter ??= this.#parts.start();
    let answer: Answer | undefined;
    try {
      answer = await (await this.#interpreter).ask(request, options);
      return answer;
    } finally {
      if (answer?.status !== "answered") await this.#stop();
    }
  }

  async #stop(): Promise<void> {
    const interpreter = this.#interpreter;
    this.#interpreter = undefined;
    // An interpreter that could not start has already reported the error to its caller.
    await interpreter?.then((started) => started.stop()).catch(() => undefined);
  }
}
