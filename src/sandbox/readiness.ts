import { Deadline, sleep } from "../calls/deadline.ts";
import { SandboxNotReadyError } from "./errors.ts";
import type { SandboxExecResult } from "./provider.ts";
import type { ProbeSettings } from "./provider-settings.ts";

/** Between two attempts when the settings ask for none: a sandbox that is not there yet is not asked in a busy loop. */
const PAUSE_MS = 100;

export interface ReadinessRequest {
  sandboxId: string;
  probe: ProbeSettings;
  /** From the spec; wins over the probe's own deadline. */
  readyTimeoutSeconds: number | undefined;
  run: (
    command: string,
    timeoutSeconds: number,
    signal: AbortSignal | undefined,
  ) => Promise<SandboxExecResult>;
  signal: AbortSignal | undefined;
}

/** Returns when the probe has passed often enough in a row; without a deadline the first failure is final. */
export async function waitUntilReady(request: ReadinessRequest): Promise<void> {
  const { probe, sandboxId, signal } = request;
  if (probe.command === null) return;
  const deadlineSeconds = request.readyTimeoutSeconds ?? probe.deadline_s;
  const deadline = deadlineSeconds === null ? undefined : new Deadline(deadlineSeconds * 1000, signal);
  let passes = 0;
  try {
    for (;;) {
      const result = await request.run(probe.command, probe.timeout_s, signal);
      if (hasPassed(result, probe)) {
        passes += 1;
        if (passes >= probe.stable_count) return;
      } else {
        passes = 0;
        const detail = `return code ${result.return_code}, stderr: ${JSON.stringify((result.stderr ?? "").trim().slice(0, 500))}`;
        if (deadline === undefined)
          throw new SandboxNotReadyError(`Sandbox '${sandboxId}' failed its readiness probe: ${detail}.`);
        if (deadline.passed)
          throw new SandboxNotReadyError(
            `Sandbox '${sandboxId}' was not ready within ${deadlineSeconds} s: ${detail}.`,
          );
      }
      await sleep(Math.max(probe.stable_delay_s * 1000, passes > 0 ? 0 : PAUSE_MS), signal);
    }
  } finally {
    deadline?.clear();
  }
}

function hasPassed(result: SandboxExecResult, { expected_stdout }: ProbeSettings): boolean {
  if (result.return_code !== 0) return false;
  return expected_stdout === null || (result.stdout ?? "").includes(expected_stdout);
}
