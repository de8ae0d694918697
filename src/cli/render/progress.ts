import type { CommandContext, OutputStream } from "../command.ts";
import { createTerminal } from "./terminal.ts";
import { textWidth } from "./text-width.ts";

const REDRAW_MS = 100;
/** Interval between lines without a terminal, so that logs stay short. */
const LOG_LINE_MS = 10_000;
const BAR_WIDTH = 24;
const KILOBYTE = 1000;

export interface ProgressOptions {
  readonly label: string;
  readonly total: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds; injected by tests. */
  readonly now?: () => number;
}

export interface Progress {
  /** Shows how many are done; `note` follows the numbers. */
  update(done: number, note?: string): void;
  /** Removes the line from the terminal until the next update, so that other text can be written. */
  clear(): void;
  /** Shows the last state and ends the line. */
  end(): void;
}

/** A progress line on `stream` (stderr, so that stdout stays clean). */
export function createProgress(stream: OutputStream, options: ProgressOptions): Progress {
  const terminal = createTerminal(stream, options.env);
  const now = options.now ?? Date.now;
  const started = now();
  const interval = terminal.isTty ? REDRAW_MS : LOG_LINE_MS;
  let shownAt = terminal.isTty ? Number.NEGATIVE_INFINITY : started;
  let current = "";
  let shown = "";

  const draw = () => {
    stream.write(terminal.isTty ? `\r\u001b[K${current}` : `${current}\n`);
    shown = current;
    shownAt = now();
  };
  return {
    update(done, note) {
      current = progressLine(
        options,
        done,
        note,
        now() - started,
        terminal.isTty ? terminal.width : undefined,
      );
      if (now() - shownAt >= interval) draw();
    },
    clear() {
      if (terminal.isTty && shown !== "") stream.write("\r\u001b[K");
      shown = "";
    },
    end() {
      if (current !== shown) draw();
      if (terminal.isTty && shown !== "") stream.write("\n");
    },
  };
}

export interface ByteProgress {
  /** Shows the bytes of a task; without a total it shows nothing. A new label replaces the line. */
  update(label: string, done: number, total: number | undefined): void;
  /** Removes the line before other text is written. */
  clear(): void;
}

/** Runs `work` with a progress line on stderr, in kilobytes, and removes the line when `work` ends. */
export async function withByteProgress<T>(
  { io, env }: CommandContext,
  work: (progress: ByteProgress) => Promise<T>,
): Promise<T> {
  let shown: string | undefined;
  let progress: Progress | undefined;
  const clear = () => progress?.clear();
  const update: ByteProgress["update"] = (label, done, total) => {
    if (total === undefined) return;
    if (label !== shown) {
      clear();
      shown = label;
      progress = createProgress(io.stderr, { label, total: Math.ceil(total / KILOBYTE), env });
    }
    progress?.update(Math.ceil(done / KILOBYTE), "kB");
  };
  try {
    return await work({ update, clear });
  } finally {
    clear();
  }
}

function progressLine(
  { label, total }: ProgressOptions,
  done: number,
  note: string | undefined,
  elapsedMs: number,
  width: number | undefined,
): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const filled = Math.round(share * BAR_WIDTH);
  const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
  const left = done > 0 && done < total ? `, ${duration((elapsedMs / done) * (total - done))} left` : "";
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  const counts = `${done}/${total} [${duration(elapsedMs)}${left}]`;
  const line = `${label} ${bar} ${percent} ${counts}${note === undefined || note === "" ? "" : ` ${note}`}`;
  return width === undefined ? line : truncate(line, width - 1);
}

function truncate(line: string, width: number): string {
  if (textWidth(line) <= width) return line;
  let result = "";
  for (const character of line) {
    if (textWidth(result + character) > width - 1) break;
    result += character;
  }
  return `${result}…`;
}

/** `41s`, `3m 05s`, `2h 04m`. */
export function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${two(seconds % 60)}s`;
  return `${Math.floor(seconds / 3600)}h ${two(Math.floor((seconds % 3600) / 60))}m`;
}

/** A count with its noun: `1 rollout`, `2 rollouts`. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
