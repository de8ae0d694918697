/** The child process of `starter.ts`: starts processes and forwards their streams. It ends with its parent, and kills all of them. */
import { PassThrough, Writable } from "node:stream";
import { errorMessage } from "../../base/errors.ts";
import { RunningProcess } from "./running-process.ts";
import type { FromStarter, ToStarter } from "./starter.ts";

interface Started {
  running: RunningProcess;
  input: PassThrough | undefined;
  output: OutputSender | undefined;
}

const started = new Map<number, Started>();

function post(message: FromStarter): void {
  if (process.connected) process.send?.(message);
}

/** Sends output to the parent. Each chunk waits until the parent has taken the previous one. */
class OutputSender extends Writable {
  readonly #id: number;
  #waiting: (() => void) | undefined;
  #flushing = false;

  constructor(id: number) {
    super();
    this.#id = id;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    post({ id: this.#id, type: "chunk", chunk });
    if (this.#flushing) callback();
    else this.#waiting = callback;
  }

  taken(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.();
  }

  /** Sends the rest without waiting for the parent: the process has ended, so no more output follows. */
  async flush(): Promise<void> {
    this.#flushing = true;
    this.taken();
    await new Promise<void>((resolve) => this.end(resolve));
  }
}

async function run({ id, order, stdin, sendsInput, wantsOutput }: ToStarter & { type: "start" }) {
  try {
    const input = sendsInput ? new PassThrough() : undefined;
    const output = wantsOutput ? new OutputSender(id) : undefined;
    const running = new RunningProcess(order, { stdin: input ?? stdin, stdoutTo: output });
    started.set(id, { running, input, output });
    if (running.pid !== undefined) post({ id, type: "started", pid: running.pid });
    const outcome = await running.outcome;
    await output?.flush();
    post({ id, type: "ended", outcome });
  } catch (error) {
    post({ id, type: "failed", message: errorMessage(error), code: (error as { code?: unknown }).code });
  } finally {
    started.delete(id);
  }
}

process.on("message", (message: ToStarter) => {
  const { id } = message;
  if (message.type === "start") void run(message);
  const { running, input, output } = started.get(id) ?? {};
  if (message.type === "kill") running?.kill();
  else if (message.type === "taken") output?.taken();
  else if (message.type === "end") input?.end();
  // A chunk for a process that has ended is dropped.
  else if (message.type === "chunk") input?.write(message.chunk, () => post({ id, type: "taken" }));
});

process.on("disconnect", () => {
  for (const { running } of started.values()) running.kill();
  process.exit();
});
