import { RUNTIME_RETURN_CODE, type SandboxExecResult } from "./provider.ts";

/** What a shell reports for a command that was killed. */
const KILLED_RETURN_CODE = 137;

interface Output {
  stdout: string;
  stderr: string;
  truncated?: boolean;
}

/** The command ended by itself, well or not. */
export function commandResult(output: Output & { code: number }): SandboxExecResult {
  return { ...streams(output), return_code: output.code, error_type: null, ...truncation(output) };
}

/** Time was up; what was printed until then is kept. */
export function timeoutResult(output: Output, seconds: number | null): SandboxExecResult {
  const { stdout, stderr } = noted(output, `The command took longer than ${seconds} s.`);
  return { stdout, stderr, return_code: RUNTIME_RETURN_CODE, error_type: "timeout", ...truncation(output) };
}

/** The command used too much memory. */
export function memoryResult(output: Output, mebibytes: number): SandboxExecResult {
  const { stdout, stderr } = noted(output, `The command used more than ${mebibytes} MiB of memory.`);
  return { stdout, stderr, return_code: KILLED_RETURN_CODE, error_type: "memory", ...truncation(output) };
}

/** The sandbox failed, not the command. */
export function sandboxFailure(output: Output): SandboxExecResult {
  return {
    ...streams(output),
    return_code: RUNTIME_RETURN_CODE,
    error_type: "sandbox",
    ...truncation(output),
  };
}

function streams({ stdout, stderr }: Output): { stdout: string; stderr: string } {
  return { stdout, stderr };
}

function noted({ stdout, stderr }: Output, note: string): { stdout: string; stderr: string } {
  return {
    stdout,
    stderr: stderr === "" || stderr.endsWith("\n") ? `${stderr}${note}` : `${stderr}\n${note}`,
  };
}

function truncation({ truncated }: Output): { output_truncated?: true } {
  return truncated ? { output_truncated: true } : {};
}
