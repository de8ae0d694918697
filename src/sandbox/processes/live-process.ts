import { PassThrough } from "node:stream";
import { errorMessage } from "../../errors.ts";
import { sandboxFailure } from "../exec-results.ts";
import type { SandboxExecResult, SandboxProcess } from "../provider.ts";

interface LiveStreams {
  stdin: PassThrough;
  stdoutTo: PassThrough;
  maxSinkBytes: number;
}

/** Makes a process with live streams of a function that runs a command with given streams until a signal fires. */
export function liveProcess(
  run: (streams: LiveStreams, until: AbortSignal) => Promise<SandboxExecResult>,
): SandboxProcess {
  const controller = new AbortController();
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  // Output is passed on, not kept; the reader limits it.
  const streams = { stdin, stdoutTo: stdout, maxSinkBytes: Number.MAX_SAFE_INTEGER };
  const ended = run(streams, controller.signal)
    .catch((error: unknown) => sandboxFailure({ stdout: "", stderr: errorMessage(error) }))
    .finally(() => stdout.end());
  return { stdin, stdout, ended, kill: () => controller.abort() };
}
