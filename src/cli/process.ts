import { setMaxListeners } from "node:events";
import { writeSync } from "node:fs";
import type { CliIo, OutputStream } from "./command.ts";
import {
  CLOSE_GRACE_MS,
  DRAIN_GRACE_MS,
  type EndingSignal,
  SIGNAL_EXIT_CODES,
  SignalReceived,
} from "./interruption.ts";
import { runCli, runLegacy } from "./main.ts";

const END_GRACE_MS = 500;
/** How writing to a pipe or a terminal fails that is gone. */
const READER_LEFT = new Set(["EPIPE", "EIO", "ERR_STREAM_DESTROYED"]);

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

/** Writes past whoever looks for what the code of servers writes to the same place. */
function ownOutput(stream: NodeJS.WriteStream): OutputStream {
  const write = stream.write.bind(stream);
  return {
    write: (text) => write(text),
    get isTTY() {
      return stream.isTTY;
    },
    get columns() {
      return stream.columns;
    },
  };
}

function processIo(): CliIo {
  const controller = new AbortController();
  const stop = new AbortController();
  // Every server and every request of a large run listens to these.
  setMaxListeners(0, controller.signal, stop.signal);
  /** The command has begun something that it winds up by itself. */
  let windsUp = false;
  const stopNow = (reason: SignalReceived) => {
    stop.abort(reason);
    // Nothing that hangs may keep a process that was told to end.
    setTimeout(() => process.exit(SIGNAL_EXIT_CODES[reason.signal]), CLOSE_GRACE_MS).unref();
  };
  for (const signal of Object.keys(SIGNAL_EXIT_CODES) as EndingSignal[]) {
    // The first signal asks the command to wind up; whoever sends a second one wants out at once.
    process.on(signal, () => {
      const reason = new SignalReceived(signal);
      if (controller.signal.aborted) {
        if (windsUp && !stop.signal.aborted) stopNow(reason);
        else process.exit(SIGNAL_EXIT_CODES[signal]);
        return;
      }
      controller.abort(reason);
      if (reason.isFromTerminal || !windsUp) return;
      setTimeout(() => {
        if (!stop.signal.aborted) stopNow(reason);
      }, DRAIN_GRACE_MS).unref();
    });
  }
  let isReaderGone = false;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      const left = READER_LEFT.has(error.code ?? "");
      if (left && windsUp) {
        // What a run writes to its files is worth more than what it says.
        if (!isReaderGone) tellLast("gym: nobody reads the output any more; the run goes on without it.");
        isReaderGone = true;
        return;
      }
      // A reader that left (`gym … | head`) is no failure.
      if (error.code === "EPIPE") process.exit(0);
      if (stream === process.stdout) tellLast(`gym: the output cannot be written: ${error.message}`);
      process.exit(1);
    });
  }
  return {
    stdout: ownOutput(process.stdout),
    stderr: ownOutput(process.stderr),
    get stdin() {
      return process.stdin;
    },
    cwd: process.cwd(),
    env: process.env,
    signal: controller.signal,
    get stopSignal() {
      windsUp = true;
      return stop.signal;
    },
    async expectShortWork() {
      // Optimising code takes a fifth of the CPU of a listing, and never pays.
      const { setFlagsFromString } = await import("node:v8");
      setFlagsFromString("--no-opt");
    },
  };
}
