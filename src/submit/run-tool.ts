import { spawn } from "node:child_process";
import { Deadline } from "../calls/deadline.ts";
import { errorMessage } from "../errors.ts";
import { SubmitError } from "./errors.ts";

const TIME_LIMIT_MS = 120_000;
const MAX_OUTPUT = 1_000_000;
/** How much of what a tool said a message repeats. */
const SHOWN = 2_000;

export interface ToolOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
  readonly input?: string;
  readonly timeLimitMs?: number;
}

/** Runs a program to its end and gives what it printed; no shell is involved. */
export async function runTool(
  [program, ...words]: readonly [string, ...string[]],
  { env, signal, input = "", timeLimitMs = TIME_LIMIT_MS }: ToolOptions,
): Promise<string> {
  const deadline = new Deadline(timeLimitMs, signal);
  try {
    const child = spawn(program, words, { env, stdio: ["pipe", "pipe", "pipe"], signal: deadline.signal });
    const stdout = collected(child.stdout);
    const stderr = collected(child.stderr);
    // A tool may ignore its input; that is not an error.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (code === 0) return stdout.text;
    const said = (stderr.text.trim() || stdout.text.trim()).slice(-SHOWN);
    throw new SubmitError(
      "SUBMIT_TOOL",
      `${program} failed (exit code ${code})${said === "" ? "." : `: ${said}`}`,
    );
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SubmitError) throw error;
    if (deadline.passed) {
      throw new SubmitError(
        "SUBMIT_TOOL",
        `${program} did not answer within ${timeLimitMs / 1000} seconds.`,
        { cause: error },
      );
    }
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const reason = missing ? "it is not installed, or not on PATH" : errorMessage(error);
    const advice =
      missing && program === "sbatch"
        ? " To submit from here, set `hostname` of the compute to a login node."
        : "";
    throw new SubmitError("SUBMIT_TOOL", `${program} cannot be run: ${reason}.${advice}`, { cause: error });
  } finally {
    deadline.clear();
  }
}

function collected(stream: NodeJS.ReadableStream): { readonly text: string } {
  const result = { text: "" };
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    if (result.text.length < MAX_OUTPUT) result.text += chunk;
  });
  return result;
}
