import type { CliIo, Program } from "./command.ts";
import { runCli, runLegacy } from "./main.ts";

export interface CapturedRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type CaptureOptions = Partial<Omit<CliIo, "stdout" | "stderr">> & {
  readonly program?: Program;
  /** Runs as this older command. */
  readonly startedAs?: string;
};

/** Runs a command line inside this process and returns its output; for tests and conformance suites. */
export async function captureRun(
  argv: readonly string[],
  options: CaptureOptions = {},
): Promise<CapturedRun> {
  const { program, startedAs, ...rest } = options;
  const written = { stdout: "", stderr: "" };
  const io: CliIo = {
    cwd: process.cwd(),
    env: {},
    ...rest,
    stdout: { write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
  };
  const exitCode = await (startedAs === undefined
    ? runCli(argv, io, program)
    : runLegacy(startedAs, argv, io, program));
  return { exitCode, ...written };
}
