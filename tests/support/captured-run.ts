import type { CliIo, CliProgram } from "../../src/cli/command.ts";
import { runCli, runLegacy } from "../../src/cli/main.ts";

interface CapturedRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type CaptureOptions = Partial<Omit<CliIo, "stdout" | "stderr">> & {
  readonly program?: CliProgram;
  /** Runs as this older command. */
  readonly startedAs?: string;
};

/** Runs a command line inside this process and returns its output. */
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
