import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { coverInherited } from "./inherited-descriptors.ts";
import { OutputBuffer } from "./output-buffer.ts";

/** Time to wait for further output after the end of the process, because a process that it left behind may hold the pipe. */
const DRAIN_MS = 500;

/** The process to start; plain data that can be sent to another process. */
export interface ProcessOrder {
  program: string;
  args: readonly string[];
  /** The complete environment. Default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** The working directory. Default: that of this process. */
  cwd?: string;
  /** Runs the process as another user; only root may do that. */
  uid?: number;
  /** The file `cgroup.procs` of a control group that the process joins before it gets any input. */
  cgroupProcs?: string;
  /** Written to descriptor 3. */
  input3?: string;
  /** Whether to read descriptor 4. */
  readOutput4?: boolean;
  /** Written to descriptor 5. */
  input5?: Uint8Array;
  /** Limit of each collected stream. */
  maxOutputBytes: number;
  /** Limit of the output to `stdoutTo`. Default: `maxOutputBytes`. */
  maxSinkBytes?: number;
}

interface ProcessStreams {
  stdin?: string | Uint8Array | Readable;
  stdoutTo?: Writable;
}

export interface EndedProcess {
  /** As in a shell, 128 + the number of the signal for a process that a signal ended. */
  code: number;
  stdout: string;
  stderr: string;
  output4: string;
  truncated: boolean;
}

/** A child of this process, from its start to its end. */
export class RunningProcess {
  readonly outcome: Promise<EndedProcess>;
  readonly #child: ChildProcess;
  #drain: NodeJS.Timeout | undefined;

  constructor(order: ProcessOrder, streams: ProcessStreams) {
    const { maxOutputBytes, maxSinkBytes = maxOutputBytes } = order;
    const { stdin, stdoutTo } = streams;
    const stdout = new OutputBuffer(stdoutTo === undefined ? maxOutputBytes : maxSinkBytes, stdoutTo);
    const stderr = new OutputBuffer(maxOutputBytes);
    const output4 = new OutputBuffer(maxOutputBytes);
    this.#child = spawn(order.program, [...order.args], {
      detached: true,
      env: order.env ?? process.env,
      ...(order.cwd !== undefined && { cwd: order.cwd }),
      ...(order.uid !== undefined && { uid: order.uid, gid: order.uid }),
      stdio: coverInherited([
        stdin === undefined ? "ignore" : "pipe",
        "pipe",
        "pipe",
        order.input3 === undefined ? "ignore" : "pipe",
        order.readOutput4 === true ? "pipe" : "ignore",
        order.input5 === undefined ? "ignore" : "pipe",
      ]),
    });
    this.outcome = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", () => this.#armDrain());
      this.#child.once("close", (code, signal) => {
        clearTimeout(this.#drain);
        resolve({
          code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]),
          stdout: stdout.text(),
          stderr: stderr.text(),
          output4: output4.text(),
          truncated: stdout.truncated || stderr.truncated,
        });
      });
      if (order.cgroupProcs !== undefined) this.#join(order.cgroupProcs, reject);
    });
    this.#read(this.#child.stdout, stdout);
    this.#read(this.#child.stderr, stderr);
    this.#read(this.#child.stdio[4], output4);
    feed(this.#child.stdin, stdin);
    feed(this.#child.stdio[3] as Writable | null | undefined, order.input3);
    // The type of `stdio` ends at 4.
    feed((this.#child.stdio as readonly unknown[])[5] as Writable | null | undefined, order.input5);
  }

  /** Undefined if the process could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  kill(): void {
    killGroup(this.#child);
  }

  /** Puts the process into a control group. It must not run without its limits. */
  #join(cgroupProcs: string, fail: (error: unknown) => void): void {
    if (this.#child.pid === undefined) return;
    try {
      writeFileSync(cgroupProcs, String(this.#child.pid));
    } catch (error) {
      // The process has already ended.
      if ((error as NodeJS.ErrnoException).code === "ESRCH") return;
      fail(error);
      this.kill();
    }
  }

  #read(stream: Readable | Writable | null | undefined, buffer: OutputBuffer): void {
    const readable = stream as Readable | null | undefined;
    readable?.on("data", (chunk: Buffer) => {
      buffer.add(chunk);
      if (buffer.truncated && buffer.sink !== undefined) this.kill();
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
}

/** Kills the group of a process, unless the process has already ended. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Writes the input. It is not an error if the program ends without reading it. */
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
