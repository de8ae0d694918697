import { spawn } from "node:child_process";
import { GymError } from "../base/errors.ts";
import type { CommandContext } from "./command.ts";

const STOP_GRACE_MS = 5_000;

function colours(isTty: boolean, env: CommandContext["env"]): Record<string, string> {
  if (isTty) return { FORCE_COLOR: "1" };
  return env["FORCE_COLOR"] === undefined ? { NO_COLOR: "1" } : {};
}

/** Runs a tool, shows its output and returns its exit code. Ctrl-C also ends the tool. */
export async function runChild(
  { io, env, signal, terminal }: CommandContext,
  command: readonly [string, ...string[]],
  cwd: string,
): Promise<number> {
  const [program, ...args] = command;
  const child = spawn(program, args, {
    cwd,
    // The tool writes into a pipe, so it needs a variable that enables colours; some tools always use colours in CI.
    env: { ...colours(terminal.isTty, env), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.setEncoding("utf8").on("data", (text: string) => io.stdout.write(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => io.stderr.write(text));
  let killer: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill("SIGTERM");
    killer = setTimeout(() => child.kill("SIGKILL"), STOP_GRACE_MS);
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once("error", (error) =>
        reject(new GymError("CLI_TOOL", `${program} cannot be run: ${error.message}`)),
      );
      child.once("close", (code) => resolve(code ?? 1));
    });
  } finally {
    clearTimeout(killer);
    signal.removeEventListener("abort", stop);
    signal.throwIfAborted();
  }
}
