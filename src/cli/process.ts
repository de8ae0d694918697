import { writeSync } from "node:fs";
import type { CliIo } from "./command.ts";
import { runCli, runLegacy } from "./main.ts";

const END_GRACE_MS = 500;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Runs `gym` for this process. */
export async function main(): Promise<void> {
  end(await runCli(process.argv.slice(2), processIo()));
}

/** Runs an older command for this process, by the name of the file it was started as. */
export async function mainLegacy(): Promise<void> {
  end(await runLegacy(process.argv[1] ?? "", process.argv.slice(2), processIo()));
}

/** The work is done: timers and sockets that code of servers has left do not keep the process. */
function end(exitCode: number): void {
  process.exitCode = exitCode;
  setTimeout(() => {
    // A slow reader still gets everything.
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit(exitCode);
    else end(exitCode);
  }, END_GRACE_MS).unref();
}

/** Says one line when everything else has failed to. */
function tellLast(line: string): void {
  try {
    writeSync(process.stderr.fd, `${line}\n`);
  } catch {
    // Nobody can be told.
  }
}

function processIo(): CliIo {
  const controller = new AbortController();
  const stop = new AbortController();
  let heedsSecondSignal = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    // The first signal asks the command to wind up; whoever sends a second one wants out at once.
    process.on(signal, () => {
      const reason = new Error(`received ${signal}`);
      if (!controller.signal.aborted) controller.abort(reason);
      else if (heedsSecondSignal && !stop.signal.aborted) stop.abort(reason);
      else process.exit(EXIT_CODES[signal]);
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // A reader that left (`gym … | head`) is no failure.
      if (error.code === "EPIPE") process.exit(0);
      if (stream === process.stdout) tellLast(`gym: the output cannot be written: ${error.message}`);
      process.exit(1);
    });
  }
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    get stdin() {
      return process.stdin;
    },
    cwd: process.cwd(),
    env: process.env,
    signal: controller.signal,
    get stopSignal() {
      heedsSecondSignal = true;
      return stop.signal;
    },
  };
}
