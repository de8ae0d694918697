import { currentSpan, type Span, traced } from "../base/telemetry/light-door.ts";
import type { SandboxExecResult, SandboxHandle, SandboxProvider } from "./provider.ts";

const PROVIDER = "nemo.gym.sandbox.provider";
const ID = "nemo.gym.sandbox.id";

/** Creates a sandbox in a span. Returns its handle, and a function for its end. */
export async function tracedStart(
  { name }: SandboxProvider,
  create: () => Promise<SandboxHandle>,
): Promise<{ handle: SandboxHandle; ended: () => void }> {
  const tracer = currentSpan()?.tracer;
  const about = { [PROVIDER]: name };
  const start = async (span: Span | undefined) => {
    const handle = await create();
    span?.set({ [ID]: handle.sandboxId });
    tracer?.record("gym.sandbox.startup_duration_ms", span?.milliseconds ?? 0, about);
    return handle;
  };
  const handle = await traced("sandbox", "gym.sandbox.start", start, { attributes: about });
  tracer?.record("gym.sandbox.active", 1, about);
  return { handle, ended: () => tracer?.record("gym.sandbox.active", -1, about) };
}

/** Runs a command in a span. The command itself is not exported. */
export function tracedExec(
  { name }: SandboxProvider,
  { sandboxId }: SandboxHandle,
  exec: () => Promise<SandboxExecResult>,
): Promise<SandboxExecResult> {
  const run = async (span: Span | undefined) => {
    const result = await exec();
    span?.set({
      "nemo.gym.sandbox.return_code": result.return_code,
      "nemo.gym.sandbox.error_type": result.error_type ?? undefined,
    });
    if (result.error_type) span?.fail(result.error_type);
    span?.tracer.record("gym.sandbox.exec_duration_ms", span.milliseconds, { [PROVIDER]: name });
    return result;
  };
  return traced("sandbox", "gym.sandbox.exec", run, { attributes: { [PROVIDER]: name, [ID]: sandboxId } });
}

/** Ends a sandbox in a span. */
export function tracedStop(
  { name }: SandboxProvider,
  { sandboxId }: SandboxHandle,
  close: () => Promise<void>,
): Promise<void> {
  const attributes = { [PROVIDER]: name, [ID]: sandboxId };
  return traced("sandbox", "gym.sandbox.stop", close, { attributes });
}
