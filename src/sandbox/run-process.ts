import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { Deadline } from "../calls/deadline.ts";
import { coverInherited } from "./inherited-descriptors.ts";
import { OutputBuffer } from "./output-buffer.ts";
import { refuseZeroByte } from "./plain-words.ts";

/** How long output may stay open after the process ended: somebody it left behind may hold the pipe. */
const DRAIN_MS = 500;
/** setTimeout cannot wait longer. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

export interface ProcessRequest {
  program: string;
  args: readonly string[];
  env?: NodeJS.ProcessEnv | undefined;
  /** The directory it starts in; that of this process when absent. */
  cwd?: string | undefined;
  /** Runs it as another user; only root may. */
  uid?: number | undefined;
  stdin?: string | Uint8Array | Readable | undefined;
  /** Written to descriptor 3, which the program knows by number. */
  input3?: string | undefined;
  /** Whether to read what the program writes to descriptor 4. */
  readOutput4?: boolean | undefined;
  /** Written to descriptor 5. */
  input5?: Uint8Array | undefined;
  /** Takes stdout as it comes in place of the buffer; more than the limit ends the process. */
  stdoutTo?: Writable | undefined;
  /** Null: no limit. */
  timeoutMs: number | null;
  /** What is kept of each stream. */
  maxOutputBytes: number;
  /** What may go to `stdoutTo`; default: as much as is kept of others. */
  maxSinkBytes?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Whether the program may end while this process goes on, which then ends as well. */
  background?: boolean | undefined;
  onStarted?: ((child: ChildProcess, kill: () => void) => void) | undefined;
}

export interface ProcessOutcome {
  /** 128 + the number of the signal, as shells have it, when one ended the process. */
  code: number;
  stdout: string;
  stderr: string;
  output4: string;
  timedOut: boolean;
  truncated: boolean;
}

/**
 * Runs a program in a process group of its own, without a shell, and ends the whole group when time is up or the signal
 * fires; the latter rejects with the signal's reason. Output beyond the limit is thrown away.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  request.signal?.throwIfAborted();
  checkArguments(request);
  const deadline = new Deadline(
    Math.min(request.timeoutMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS),
    request.signal,
  );
  try {
    const outcome = await new RunningProcess(request, deadline.signal).outcome;
    if (deadline.signal.aborted && !deadline.passed) throw request.signal?.reason;
    return { ...outcome, timedOut: deadline.passed };
  } finally {
    deadline.clear();
  }
}

/** As `runProcess`, for a process that runs until `signal` fires: its end is an outcome like any other. */
export async function runInBackground(
  request: Omit<ProcessRequest, "timeoutMs" | "signal">,
  signal: AbortSignal,
): Promise<ProcessOutcome> {
  checkArguments(request);
  const outcome = await new RunningProcess({ ...request, background: true, timeoutMs: null }, signal).outcome;
  return { ...outcome, timedOut: false };
}

function checkArguments({ program, args }: Pick<ProcessRequest, "program" | "args">): void {
  for (const word of args) refuseZeroByte(word, `The argument ${JSON.stringify(word)} of '${program}'`);
}

class RunningProcess {
  readonly outcome: Promise<Omit<ProcessOutcome, "timedOut">>;
  readonly #child: ChildProcess;
  #drain: NodeJS.Timeout | undefined;

  constructor(request: ProcessRequest, stop: AbortSignal) {
    const stdout =
      request.stdoutTo === undefined
        ? new OutputBuffer(request.maxOutputBytes)
        : new OutputBuffer(request.maxSinkBytes ?? request.maxOutputBytes, request.stdoutTo);
    const stderr = new OutputBuffer(request.maxOutputBytes);
    const output4 = new OutputBuffer(request.maxOutputBytes);
    this.#child = spawn(request.program, [...request.args], {
      detached: true,
      env: request.env ?? process.env,
      ...(request.cwd !== undefined && { cwd: request.cwd }),
      ...(request.uid !== undefined && { uid: request.uid, gid: request.uid }),
      stdio: coverInherited([
        request.stdin === undefined ? "ignore" : "pipe",
        "pipe",
        "pipe",
        request.input3 === undefined ? "ignore" : "pipe",
        request.readOutput4 === true ? "pipe" : "ignore",
        request.input5 === undefined ? "ignore" : "pipe",
      ]),
    });
    stop.addEventListener("abort", this.#kill, { once: true });
    this.outcome = new Promise((resolve, reject) => {
      this.#child.once("error", (error) => {
        stop.removeEventListener("abort", this.#kill);
        reject(error);
      });
      this.#child.once("exit", () => this.#armDrain());
      this.#child.once("close", (code, signal) => {
        clearTimeout(this.#drain);
        stop.removeEventListener("abort", this.#kill);
        resolve({
          code: code ?? 128 + (signal === null ? 0 : signalNumber(signal)),
          stdout: stdout.text(),
          stderr: stderr.text(),
          output4: output4.text(),
          truncated: stdout.truncated || stderr.truncated,
        });
      });
    });
    this.#read(this.#child.stdout, stdout);
    this.#read(this.#child.stderr, stderr);
    this.#read(this.#child.stdio[4], output4);
    feed(this.#child.stdin, request.stdin);
    feed(this.#child.stdio[3] as Writable | null | undefined, request.input3);
    // The type of `stdio` ends at 4.
    feed((this.#child.stdio as readonly unknown[])[5] as Writable | null | undefined, request.input5);
    if (request.background) {
      this.#child.unref();
      for (const stream of this.#child.stdio) (stream as { unref?: () => void } | null)?.unref?.();
    }
    request.onStarted?.(this.#child, this.#kill);
  }

  #read(stream: Readable | Writable | null | undefined, buffer: OutputBuffer): void {
    const readable = stream as Readable | null | undefined;
    readable?.on("data", (chunk: Buffer) => {
      buffer.add(chunk);
      if (buffer.truncated && buffer.sink !== undefined) this.#kill();
      if (buffer.sink?.writableNeedDrain) {
        readable.pause();
        buffer.sink.once("drain", () => readable.resume());
      }
      if (this.#drain !== undefined) this.#armDrain();
    });
  }

  #armDrain(): void {
    clearTimeout(this.#drain);
    this.#drain = setTimeout(() => {
      for (const stream of this.#child.stdio) stream?.destroy();
    }, DRAIN_MS);
  }

  readonly #kill = (): void => killGroup(this.#child);
}

/** Ends a process and all that share its group; one that has ended already is left alone. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A program that ends without reading its input is its own affair. */
function feed(stream: Writable | null | undefined, input: string | Uint8Array | Readable | undefined): void {
  if (stream == null || input === undefined) return;
  stream.on("error", () => undefined);
  if (typeof input === "string" || input instanceof Uint8Array) stream.end(input);
  else {
    input.on("error", () => stream.destroy());
    stream.on("close", () => input.destroy());
    input.pipe(stream);
  }
}

const SIGNAL_NUMBERS: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
  SIGXCPU: 24,
  SIGXFSZ: 25,
};

function signalNumber(signal: NodeJS.Signals): number {
  return SIGNAL_NUMBERS[signal] ?? 0;
}
