import { errorMessage, GymError } from "../errors.ts";
import { redactKnown } from "../secrets.ts";
import type { CliIo } from "./command.ts";
import { CommandKeysError, UsageError } from "./errors.ts";
import { interruptedExitCode } from "./interruption.ts";
import { createTerminal } from "./render/terminal.ts";

export interface UsageText {
  readonly text: string;
  /** `gym env resolve` */
  readonly name: string;
}

export interface ReportOptions {
  /** A program reads stdout: the error goes there as one line of JSON, and as text to stderr. */
  readonly json: boolean;
  /** Prints the code of the error, which docs/reference/errors.md explains. */
  readonly verbose: boolean;
}

/** Prints an error in the format of its kind and returns the exit code. Only unexpected errors show a stack. */
export function reportError(error: unknown, io: CliIo, usage: UsageText, options: ReportOptions): number {
  if (options.json && io.signal?.aborted !== true) io.stdout.write(`${errorJson(error)}\n`);
  if (error instanceof UsageError || error instanceof CommandKeysError) {
    io.stderr.write(`${usage.text}\n${usage.name}: error: ${error.message}\n`);
    return 2;
  }
  if (io.signal?.aborted === true) {
    io.stderr.write("Interrupted.\n");
    return interruptedExitCode(io.signal);
  }
  if (!(error instanceof GymError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : errorMessage(error);
    io.stderr.write(`${redactKnown(text)}\n`);
    return 1;
  }
  if (error.code === "CONFIG_OVERRIDE") {
    io.stderr.write(`${error.message}\n`);
    return 1;
  }
  // The original prints config errors to stdout, and scripts read them there.
  const stream = error.code.startsWith("CONFIG_") && !options.json ? io.stdout : io.stderr;
  stream.write(`${createTerminal(stream, io.env).red("Error:")} ${redactKnown(error.message)}\n`);
  if (error.remedy !== undefined) stream.write(`${error.remedy}\n`);
  if (options.verbose) stream.write(`Code: ${error.code} (docs/reference/errors.md)\n`);
  return 1;
}

function errorJson(error: unknown): string {
  const known = error instanceof GymError ? error : undefined;
  return JSON.stringify({
    event: "error",
    code: known?.code ?? "UNEXPECTED",
    message: redactKnown(errorMessage(error)),
    ...(known?.remedy !== undefined && { remedy: known.remedy }),
  });
}
