import { PassThrough } from "node:stream";
import { errorMessage } from "../../base/errors.ts";
import { sandboxFailure } from "../exec-results.ts";
import type { SandboxExecResult, SandboxProcess } from "../provider.ts";

interface LiveStreams {
  stdin: PassThrough;
  stdoutTo: PassThrough;
  maxSinkBytes: number;
}

/** Creates a process with live streams. `run` runs the command with these streams until the signal fires. */
export function liveProcess(
  run: (streams: LiveStreams, until: AbortSignal) => Promise<SandboxExecResult>,
): SandboxProcess {
  const controller = new AbortController();
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  // The output is forwarded and not collected; its reader limits it.
  const streams = { stdin, stdoutTo: stdout, maxSinkBytes: Number.MAX_SAFE_INTEGER };
  const ended = run(streams, controller.signal)
    .catch((error: unknown) => sandboxFailure({ stdout: "", stderr: errorMessage(error) }))
    .finally(() => stdout.end());
  return { stdin, stdout, ended, kill: () => controller.abort() };
}
