import { RUNTIME_RETURN_CODE, type SandboxExecResult } from "./provider.ts";

/** The exit code that a shell reports for a killed command. */
const KILLED_RETURN_CODE = 137;

interface Output {
  stdout: string;
  stderr: string;
  truncated?: boolean;
}

/** The command ended by itself, with any exit code. */
export function commandResult(output: Output & { code: number }): SandboxExecResult {
  return result(output, { return_code: output.code, error_type: null });
}

/** The command was ended at its time limit; its output until then is kept. */
export function timeoutResult(output: Output, seconds: number | null): SandboxExecResult {
  const noted = withNote(output, `The command took longer than ${seconds} s.`);
  return result(noted, { return_code: RUNTIME_RETURN_CODE, error_type: "timeout" });
}

/** The command used too much memory. */
export function memoryResult(output: Output, mebibytes: number): SandboxExecResult {
  const noted = withNote(output, `The command used more than ${mebibytes} MiB of memory.`);
  return result(noted, { return_code: KILLED_RETURN_CODE, error_type: "memory" });
}

/** The sandbox failed, not the command. */
export function sandboxFailure(output: Output): SandboxExecResult {
  return result(output, { return_code: RUNTIME_RETURN_CODE, error_type: "sandbox" });
}

function result(
  { stdout, stderr, truncated }: Output,
  ending: Pick<SandboxExecResult, "return_code" | "error_type">,
): SandboxExecResult {
  return { stdout, stderr, ...ending, ...(truncated && { output_truncated: true }) };
}

/** Adds a line to stderr. */
function withNote(output: Output, note: string): Output {
  const { stderr } = output;
  const separator = stderr === "" || stderr.endsWith("\n") ? "" : "\n";
  return { ...output, stderr: `${stderr}${separator}${note}` };
}
