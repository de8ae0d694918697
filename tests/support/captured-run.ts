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
  /** Whether the output is a terminal, of 80 columns unless `env` says otherwise. */
  readonly isTty?: boolean;
};

/** Runs a command line inside this process and returns its output. */
export async function captureRun(
  argv: readonly string[],
  options: CaptureOptions = {},
): Promise<CapturedRun> {
  const { program, startedAs, isTty = false, ...rest } = options;
  const written = { stdout: "", stderr: "" };
  const io: CliIo = {
    cwd: process.cwd(),
    env: {},
    ...rest,
    stdout: { isTTY: isTty, write: (text) => (written.stdout += text) },
    stderr: { write: (text) => (written.stderr += text) },
  };
  const exitCode = await (startedAs === undefined
    ? runCli(argv, io, program)
    : runLegacy(startedAs, argv, io, program));
  return { exitCode, ...written };
}
