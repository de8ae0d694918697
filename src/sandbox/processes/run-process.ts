import type { Readable, Writable } from "node:stream";
import { Deadline, LONGEST_TIMER_MS } from "../../base/transport/light-door.ts";
import { rejectZeroByte } from "../safe-text.ts";
import type { EndedProcess, ProcessOrder } from "./running-process.ts";
import { startProcess } from "./starter.ts";

export interface ProcessRequest extends ProcessOrder {
  stdin?: string | Uint8Array | Readable;
  /** Receives stdout instead of a buffer. More than `maxSinkBytes` ends the process. */
  stdoutTo?: Writable;
  /** Null: no limit. */
  timeoutMs: number | null;
  signal?: AbortSignal;
  /** A background process does not keep this process alive, and ends with it. */
  background?: boolean;
  onStarted?: (pid: number, kill: () => void) => void;
}

export interface ProcessOutcome extends EndedProcess {
  timedOut: boolean;
}

/**
 * Runs a program in its own process group, without a shell. Kills the whole group at the time limit or when the signal
 * fires; the signal also rejects the promise with its reason. Output above the limit is discarded.
 */
export async function runProcess(request: ProcessRequest): Promise<ProcessOutcome> {
  request.signal?.throwIfAborted();
  checkArguments(request);
  const timeoutMs = Math.min(request.timeoutMs ?? LONGEST_TIMER_MS, LONGEST_TIMER_MS);
  const deadline = new Deadline(timeoutMs, request.signal);
  try {
    const outcome = await startProcess(request, deadline.signal);
    if (deadline.signal.aborted && !deadline.passed) throw request.signal?.reason;
    return { ...outcome, timedOut: deadline.passed };
  } finally {
    deadline.clear();
  }
}

/** Like `runProcess` for a background process. `signal` ends the process and does not reject the promise. */
export async function runInBackground(
  request: Omit<ProcessRequest, "timeoutMs" | "signal">,
  signal: AbortSignal,
): Promise<ProcessOutcome> {
  checkArguments(request);
  const outcome = await startProcess({ ...request, background: true, timeoutMs: null }, signal);
  return { ...outcome, timedOut: false };
}

function checkArguments({ program, args }: Pick<ProcessRequest, "program" | "args">): void {
  for (const word of args) rejectZeroByte(word, `The argument ${JSON.stringify(word)} of '${program}'`);
}
