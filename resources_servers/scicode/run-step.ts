import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { GymError } from "nemo-gym";
import type { CodeRunner, RunOptions } from "nemo-gym/code-runner";

const MAX_TARGET_BYTES = 256 * 1024 * 1024;
const READ_MS = 120_000;
/** Variables that Python needs; all others may hold secrets. */
const PASSED = ["PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV"];
/** Lines that load helpers, which the program has already. */
const HELPER_IMPORT = /^\s*(from\s+scicode\.|import\s+scicode)\b/;

const run = promisify(execFile);

/** The file with the expected values cannot be read. */
export class TargetsError extends GymError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("SCICODE_TARGETS", message, options);
  }
}

export interface Step {
  number: string;
  code: string;
  tests: readonly string[];
}

export interface StepRunner {
  runner: CodeRunner;
  directory: string;
  /** The Python outside of the sandbox that reads the file; it needs h5py. */
  dataPython: string;
  dataFile: string;
  timeoutSeconds: number;
  exitCodeOnly: boolean;
}

/** Whether the code of a step passes its tests. */
export async function passes(step: Step, settings: StepRunner, options: RunOptions): Promise<boolean> {
  const targets = await readTargets(step, settings, options.signal);
  // As in the original: a test without expected values fails.
  if (targets.some((target) => target === null)) return false;
  const success = settings.exitCodeOnly ? 0 : randomInt(64, 120);
  const { return_code } = await settings.runner.run(
    {
      language: "python",
      code: programOf(step, targets, { directory: settings.directory, success }),
      timeoutSeconds: settings.timeoutSeconds,
    },
    options,
  );
  return return_code === success;
}

async function readTargets(
  { number, tests }: Step,
  { directory, dataPython, dataFile }: StepRunner,
  signal: AbortSignal | undefined,
): Promise<unknown[]> {
  if (tests.length === 0) return [];
  const env = Object.fromEntries(
    PASSED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  try {
    const words = [
      "-I",
      "-B",
      path.join(directory, "read_targets.py"),
      dataFile,
      number,
      String(tests.length),
    ];
    const { stdout } = await run(dataPython, words, {
      env,
      signal,
      timeout: READ_MS,
      maxBuffer: MAX_TARGET_BYTES,
    });
    return JSON.parse(stdout) as unknown[];
  } catch (error) {
    signal?.throwIfAborted();
    const reason = String((error as { stderr?: unknown }).stderr || error)
      .trim()
      .split("\n")
      .at(-1);
    throw new TargetsError(
      `The expected values of ${dataFile} cannot be read with ${dataPython}: ${reason}`,
      {
        cause: error,
      },
    );
  }
}

let helpers: string | undefined;

/** The program ends with `success` only after its last test. */
function programOf(
  { code, tests }: Step,
  targets: readonly unknown[],
  { directory, success }: { directory: string; success: number },
): string {
  helpers ??= readFileSync(path.join(directory, "targets.py"), "utf8");
  const packed = Buffer.from(JSON.stringify(targets)).toString("base64");
  const parts = [code, helpers, `targets = _gym_targets("${packed}")`];
  for (const [index, test] of tests.entries())
    parts.push(
      `target = targets[${index}]`,
      test
        .split("\n")
        .filter((line) => !HELPER_IMPORT.test(line))
        .join("\n"),
    );
  parts.push(`raise SystemExit(${success})`);
  return `${parts.join("\n\n")}\n`;
}
