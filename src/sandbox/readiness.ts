import { Deadline, sleep } from "../base/transport/light-door.ts";
import { SandboxNotReadyError } from "./errors.ts";
import type { SandboxExecResult, SandboxHandle, SandboxProvider } from "./provider.ts";
import type { ProbeSettings } from "./provider-settings.ts";
import type { SandboxSpec } from "./spec.ts";

/** Minimum pause after a failed attempt, so that a sandbox that is not ready yet is not probed in a busy loop. */
const PAUSE_MS = 100;

/** Returns when the probe has passed often enough in a row. Without a deadline the first failure is final. */
export async function waitUntilReady<Raw>(
  provider: SandboxProvider<Raw>,
  handle: SandboxHandle<Raw>,
  { probe, spec, signal }: { probe: ProbeSettings; spec: SandboxSpec; signal?: AbortSignal },
): Promise<void> {
  if (probe.command === null) return;
  const { sandboxId } = handle;
  const deadlineSeconds = spec.ready_timeout_s ?? probe.deadline_s;
  const deadline = deadlineSeconds === null ? undefined : new Deadline(deadlineSeconds * 1000, signal);
  let passes = 0;
  try {
    for (;;) {
      const result = await provider.exec(handle, probe.command, { timeoutSeconds: probe.timeout_s, signal });
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
