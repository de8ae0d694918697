import type { JsonObject } from "../python/json/json-object.ts";
import { shellQuote } from "../sandbox/plain-words.ts";
import type { SandboxExecResult, SandboxProcess } from "../sandbox/provider.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { sandboxUnavailable } from "./errors.ts";

const START_TIMEOUT_MS = 30_000;
/** One reply; the programs themselves cut what they report. */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;

/** What came of a request: a reply, or why there is none. After the latter the interpreter is of no more use. */
export type Answer =
  | { status: "answered"; value: JsonObject }
  | { status: "timeout" }
  /** The process ended: the code ended it, or used too much memory. */
  | { status: "ended"; result: SandboxExecResult };

/** A program in a sandbox of its own that answers requests, one JSON text per line each way. */
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

  /** Starts Python on a program that says `{"ready": true}` first. */
  static async start(sandbox: Sandbox, source: string, python: string): Promise<Interpreter> {
    const interpreter = new Interpreter(
      sandbox,
      await sandbox.startProcess(`exec ${shellQuote(python)} -I -B -c ${shellQuote(source)}`),
    );
    const ready = await interpreter.#next({ timeoutMs: START_TIMEOUT_MS });
    if (ready.status === "answered") return interpreter;
    const reason = ready.status === "timeout" ? "it did not start in time" : ready.result.stderr?.trim();
    throw new Error(`Python could not be started in the sandbox: ${reason}`);
  }

  /** Sends a request and waits for its reply. One at a time. */
  async ask(request: JsonObject, options: { timeoutMs: number; signal?: AbortSignal }): Promise<Answer> {
    options.signal?.throwIfAborted();
    const answer = this.#next(options);
    this.#process.stdin.write(`${JSON.stringify(request)}\n`);
    return answer;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#sandbox.stop();
  }

  #next({ timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal }): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // This timer is what keeps the program alive: the process itself does not.
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
        const stderr = `The reply was longer than ${MAX_REPLY_BYTES} bytes.`;
        settle(() =>
          resolve({ status: "ended", result: { stdout: "", stderr, return_code: 137, error_type: null } }),
        );
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

/** A line that is not a JSON object was written by the code that runs, which thereby gave up its result. */
function readAnswer(line: string): Answer {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { status: "answered", value: value as JsonObject };
  } catch {
    // Reported below.
  }
  return {
    status: "ended",
    result: { stdout: "", stderr: "The reply is not a JSON object.", return_code: 1, error_type: null },
  };
}
