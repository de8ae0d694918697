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
const MANY_LISTENERS = 1_000_000;
/** Error codes of writes to a closed pipe or terminal. */
const READER_LEFT = new Set(["EPIPE", "EIO", "ERR_STREAM_DESTROYED"]);

/** Runs `gym` for this process. */
export async function main(): Promise<void> {
  end(await runCli(process.argv.slice(2), processIo()));
}

/** Runs an older command for this process, by the name of the file it was started as. */
export async function mainLegacy(): Promise<void> {
  end(await runLegacy(process.argv[1] ?? "", process.argv.slice(2), processIo()));
}

/** Ends the process when the command is done, because server code may have left timers and sockets open. */
function end(exitCode: number): void {
  process.exitCode = exitCode;
  setTimeout(() => {
    // A slow reader still receives all output.
    if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit(exitCode);
    else end(exitCode);
  }, END_GRACE_MS).unref();
}

/** Writes one line to stderr when the streams no longer work. */
function writeLastLine(line: string): void {
  try {
    writeSync(process.stderr.fd, `${line}\n`);
  } catch {
    // Errors cannot be reported anywhere.
  }
}

/** The stream before server output is captured. */
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
  // Every server and request of a large run listens to these signals. Not 0, because Node 20's fetch fails on a signal
  // with that limit.
  setMaxListeners(MANY_LISTENERS, controller.signal, stop.signal);
  /** Whether the command uses `stopSignal` and ends by itself. */
  let endsByItself = false;
  const stopNow = (reason: SignalReceived) => {
    stop.abort(reason);
    // A process that was told to end does not wait for blocked work.
    setTimeout(() => process.exit(SIGNAL_EXIT_CODES[reason.signal]), CLOSE_GRACE_MS).unref();
  };
  for (const signal of Object.keys(SIGNAL_EXIT_CODES) as EndingSignal[]) {
    // The first signal asks the command to finish; the second ends the process.
    process.on(signal, () => {
      const reason = new SignalReceived(signal);
      if (controller.signal.aborted) {
        if (endsByItself && !stop.signal.aborted) stopNow(reason);
        else process.exit(SIGNAL_EXIT_CODES[signal]);
        return;
      }
      controller.abort(reason);
      if (reason.isFromTerminal || !endsByItself) return;
      setTimeout(() => {
        if (!stop.signal.aborted) stopNow(reason);
      }, DRAIN_GRACE_MS).unref();
    });
  }
  let isReaderGone = false;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      const left = READER_LEFT.has(error.code ?? "");
      if (left && endsByItself) {
        // The files of a run are more important than its messages.
        if (!isReaderGone)
          writeLastLine("gym: the reader of the output has gone; the run continues without it.");
        isReaderGone = true;
        return;
      }
      // A reader that closed the pipe (`gym … | head`) is not a failure.
      if (error.code === "EPIPE") process.exit(0);
      if (stream === process.stdout) writeLastLine(`gym: the output cannot be written: ${error.message}`);
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
      endsByItself = true;
      return stop.signal;
    },
  };
}
