import { type ExecFileException, execFile } from "node:child_process";
import { mkdir, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { errorMessage } from "../../base/errors.ts";
import { makeDirectory } from "../../base/files/door.ts";
import { SubmitError } from "./errors.ts";
import { quotedCommand } from "./shell-quote.ts";

/** Directories of a job beside its script. */
const JOB_DIRECTORIES = ["logs", "artifacts"];
/** Scripts contain the values of environment variables, and tokens may be among them. */
const SCRIPT_MODE = 0o700;
const TIME_LIMIT_MS = 120_000;
const MAX_OUTPUT_BYTES = 1_000_000;
/** Limit of the output of a tool in an error message. */
const SHOWN = 2_000;

/** The machine on which jobs are submitted. */
export interface Cluster {
  /** The paths that do not exist on the machine. */
  missing(paths: readonly string[]): Promise<string[]>;
  /** Creates a directory that must not exist yet, and its parents as needed. */
  makeDirectory(directory: string): Promise<void>;
  /** Writes the script and creates the directories beside it. */
  writeJob(directory: string, script: string): Promise<void>;
  /** Passes a script to sbatch and returns the output of sbatch. */
  sbatch(script: string): Promise<string>;
}

interface ToolOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
  readonly input?: string;
  readonly timeLimitMs?: number;
}

export function openCluster(hostname: string | undefined, options: ToolOptions): Cluster {
  return hostname === undefined || hostname === os.hostname()
    ? localCluster(options)
    : remoteCluster(hostname, options);
}

function localCluster(options: ToolOptions): Cluster {
  return {
    async missing(paths) {
      const found = await Promise.all(paths.map((name) => stat(name).catch(() => undefined)));
      return paths.filter((_, index) => found[index] === undefined);
    },
    makeDirectory: (directory) =>
      writing(directory, async () => {
        await makeDirectory(path.dirname(directory));
        await mkdir(directory);
      }),
    writeJob(directory, script) {
      const file = path.join(directory, "job.sh");
      return writing(file, async () => {
        for (const name of JOB_DIRECTORIES) await makeDirectory(path.join(directory, name));
        await writeFile(file, script, { mode: SCRIPT_MODE });
      });
    },
    sbatch: (script) => runTool(["sbatch", script], options),
  };
}

/** Uses ssh. The remote shell parses the command, so every word is quoted. No local shell is involved. */
function remoteCluster(host: string, options: ToolOptions): Cluster {
  const run = (command: string, input = "") =>
    runTool(["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=30", "--", host, command], {
      ...options,
      input,
    });
  return {
    async missing(paths) {
      if (paths.length === 0) return [];
      const checks = paths.map(
        (name, index) => `${quotedCommand(["test", "-e", name])} || echo missing ${index}`,
      );
      const answer = await run(`${checks.join("; ")}; true`);
      const missing = new Set([...answer.matchAll(/^missing (\d+)$/gm)].map(([, index]) => Number(index)));
      return paths.filter((_, index) => missing.has(index));
    },
    async makeDirectory(directory) {
      const parent = quotedCommand(["mkdir", "-p", "--", path.posix.dirname(directory)]);
      await run(`${parent} && ${quotedCommand(["mkdir", "--", directory])}`);
    },
    async writeJob(directory, script) {
      const directories = JOB_DIRECTORIES.map((name) => path.posix.join(directory, name));
      const file = path.posix.join(directory, "job.sh");
      const steps = [
        "umask 077",
        quotedCommand(["mkdir", "-p", "--", ...directories]),
        `cat > ${quotedCommand([file])}`,
        quotedCommand(["chmod", "700", "--", file]),
      ];
      await run(steps.join(" && "), script);
    },
    sbatch: (script) => run(quotedCommand(["sbatch", script])),
  };
}

async function writing(file: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === "EEXIST";
    const problem = exists ? "it already exists" : errorMessage(error);
    throw new SubmitError("SUBMIT_DIRECTORY", `'${file}' cannot be created: ${problem}.`, { cause: error });
  }
}

/** Runs a program without a shell and returns its output. */
export async function runTool(
  [program, ...args]: readonly [string, ...string[]],
  { env, signal, input = "", timeLimitMs = TIME_LIMIT_MS }: ToolOptions,
): Promise<string> {
  const running = promisify(execFile)(program, args, {
    env,
    signal,
    timeout: timeLimitMs,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  // A tool may end without reading its input.
  running.child.stdin?.on("error", () => {}).end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    signal?.throwIfAborted();
    throw new SubmitError("SUBMIT_TOOL", failureOf(program, error as ExecFileException, timeLimitMs), {
      cause: error,
    });
  }
}

function failureOf(program: string, error: ExecFileException, timeLimitMs: number): string {
  const { code, killed, stdout = "", stderr = "" } = error;
  if (typeof code === "string") {
    const isMissing = code === "ENOENT";
    const reason = isMissing ? "it is not installed, or not on PATH" : errorMessage(error);
    const advice =
      isMissing && program === "sbatch"
        ? " To submit from here, set `hostname` of the compute to a login node."
        : "";
    return `${program} cannot be run: ${reason}.${advice}`;
  }
  if (killed) return `${program} did not answer within ${timeLimitMs / 1000} seconds.`;
  const output = (stderr.trim() || stdout.trim()).slice(-SHOWN);
  return `${program} failed (exit code ${code})${output === "" ? "." : `: ${output}`}`;
}
