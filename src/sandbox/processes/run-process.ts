import type { Readable, Writable } from "node:stream";
import { Deadline } from "../../calls/deadline.ts";
import { refuseZeroByte } from "../plain-words.ts";
import type { EndedProcess, ProcessOrder } from "./running-process.ts";
import { startProcess } from "./starter.ts";

/** setTimeout cannot wait longer. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

export interface ProcessRequest extends ProcessOrder {
  stdin?: string | Uint8Array | Readable | undefined;
  /** Takes stdout as it comes in place of the buffer; more than `maxSinkBytes` ends the process. */
  stdoutTo?: Writable | undefined;
  /** Null: no limit. */
  timeoutMs: number | null;
  signal?: AbortSignal | undefined;
  /** Whether the program may end while this process goes on, which then ends as well. */
  background?: boolean | undefined;
  onStarted?: ((pid: number, kill: () => void) => void) | undefined;
}

export interface ProcessOutcome extends EndedProcess {
  timedOut: boolean;
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
    const outcome = await startProcess(request, deadline.signal);
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
  const outcome = await startProcess({ ...request, background: true, timeoutMs: null }, signal);
  return { ...outcome, timedOut: false };
}

function checkArguments({ program, args }: Pick<ProcessRequest, "program" | "args">): void {
  for (const word of args) refuseZeroByte(word, `The argument ${JSON.stringify(word)} of '${program}'`);
}
