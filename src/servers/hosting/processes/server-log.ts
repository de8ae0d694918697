import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { Logger } from "../../../base/door.ts";
import { makeDirectorySync } from "../../../base/files/door.ts";
import { redactKnown } from "../../../base/secrets.ts";
import { LineSplitter } from "../guards/output-capture.ts";
import { withRollout } from "../rollout-attribution.ts";

const KEPT_LINES = 40;
const MAX_LINE = 16 * 1024;

export type LogLevel = "debug" | "info" | "warn" | "error";

/** The output of one server: forwarded line by line, written to a file, and the last lines kept for a crash report. */
export class ServerLog {
  readonly server: string;
  readonly path: string | undefined;
  readonly #recent: string[] = [];
  #file: WriteStream | undefined;
  readonly #onLine: (line: string, level: LogLevel) => void;
  readonly #verbose: boolean;

  constructor(options: {
    server: string;
    directory?: string;
    verbose?: boolean;
    onLine: (line: string, level: LogLevel) => void;
    onFileError: (error: Error) => void;
  }) {
    this.server = options.server;
    this.#onLine = options.onLine;
    this.#verbose = options.verbose ?? false;
    if (options.directory !== undefined && canCreate(options.directory, options.onFileError)) {
      this.path = join(options.directory, `${options.server.replaceAll("/", "_")}.log`);
      this.#file = createWriteStream(this.path, { flags: "a" });
      this.#file.on("error", options.onFileError);
    }
  }

  /** The last lines, oldest first. */
  get recent(): readonly string[] {
    return this.#recent;
  }

  write(line: string, level: LogLevel = "info"): void {
    // Redacted first, because truncation could leave part of a secret.
    const shown = redactKnown(withRollout(line));
    const text = shown.length > MAX_LINE ? `${shown.slice(0, MAX_LINE)}…` : shown;
    this.#recent.push(text);
    if (this.#recent.length > KEPT_LINES) this.#recent.shift();
    this.#file?.write(`${new Date().toISOString()} ${text}\n`);
    this.#onLine(text, level);
  }

  /** Reads a child's output line by line. */
  follow(stream: Readable, level: LogLevel): void {
    // Python servers prefix lines with their name, and the display adds it again, so it is removed here.
    const prefix = `(${this.server}) `;
    const lines = new LineSplitter((line) =>
      this.write(line.startsWith(prefix) ? line.slice(prefix.length) : line, level),
    );
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => lines.add(chunk));
    stream.on("end", () => lines.end());
  }

  get logger(): Logger {
    return prefixedLogger((line, level) => this.write(line, level), this.#verbose);
  }

  /** Ends the file. Later lines still reach `onLine`. */
  close(): void {
    this.#file?.end();
    this.#file = undefined;
  }
}

/** A logger that shows the level of a message as a prefix. */
export function prefixedLogger(write: (line: string, level: LogLevel) => void, verbose: boolean): Logger {
  return {
    debug: (message) => verbose && write(`debug: ${message}`, "debug"),
    info: (message) => write(message, "info"),
    warn: (message) => write(`warning: ${message}`, "warn"),
    error: (message) => write(`error: ${message}`, "error"),
  };
}

/** A server runs without a log file if the directory cannot be created. */
function canCreate(directory: string, onFileError: (error: Error) => void): boolean {
  try {
    makeDirectorySync(directory);
    return true;
  } catch (error) {
    onFileError(error as Error);
    return false;
  }
}

/** Published by `Sandbox.exec`. */
const CHANNEL = "nemo-gym:sandbox-command";

interface Command {
  sandbox: string;
  program: string;
  ending: string;
  seconds: number;
}

/**
 * Writes a line for each command that servers of this process run in sandboxes to `sandbox.log`, prefixed with the
 * rollout. Processes of one run append to the same file. Returns a function that ends it.
 */
export function logSandboxCommands(directory: string, onFileError: (error: Error) => void): () => void {
  // Created on first use, because most runs do not use a sandbox.
  let log: ServerLog | undefined;
  const write = (message: unknown) => {
    const { sandbox, program, ending, seconds } = message as Command;
    log ??= new ServerLog({ server: "sandbox", directory, onLine: () => {}, onFileError });
    log.write(`${sandbox}: ${program}: ${ending} after ${seconds.toFixed(3)} s`);
  };
  subscribe(CHANNEL, write);
  return () => {
    unsubscribe(CHANNEL, write);
    log?.close();
  };
}
