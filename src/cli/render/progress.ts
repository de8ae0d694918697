import type { CommandContext, OutputStream } from "../command.ts";
import { createTerminal, type Terminal } from "./terminal.ts";
import { textWidth } from "./text-width.ts";

const REDRAW_MS = 100;
/** Interval between lines without a terminal, so that logs stay short. */
const LOG_LINE_MS = 10_000;
const BAR_WIDTH = 24;
const KILOBYTE = 1000;
const ERASE_LINE = "\r\u001b[K";

/** A progress line in kilobytes on `stream` (stderr, so that stdout stays clean). */
export class ByteProgress {
  readonly #stream: OutputStream;
  readonly #terminal: Terminal;
  readonly #now: () => number;
  #label: string | undefined;
  #startedAt = 0;
  #shownAt = 0;
  #isShown = false;

  /** `now` returns milliseconds; injected by tests. */
  constructor(stream: OutputStream, env: CommandContext["env"], now: () => number = Date.now) {
    this.#stream = stream;
    this.#terminal = createTerminal(stream, env);
    this.#now = now;
  }

  /** Shows the bytes of a task; without a total it shows nothing. A new label replaces the line. */
  update(label: string, done: number, total: number | undefined): void {
    if (total === undefined) return;
    const now = this.#now();
    const { isTty, width } = this.#terminal;
    if (label !== this.#label) {
      this.clear();
      this.#label = label;
      this.#startedAt = now;
      this.#shownAt = isTty ? Number.NEGATIVE_INFINITY : now;
    }
    if (now - this.#shownAt < (isTty ? REDRAW_MS : LOG_LINE_MS)) return;
    const line = progressLine(
      label,
      Math.ceil(done / KILOBYTE),
      Math.ceil(total / KILOBYTE),
      now - this.#startedAt,
    );
    this.#stream.write(isTty ? `${ERASE_LINE}${truncate(line, width - 1)}` : `${line}\n`);
    this.#shownAt = now;
    this.#isShown = true;
  }

  /** Removes the line from the terminal until the next update, so that other text can be written. */
  clear(): void {
    if (this.#terminal.isTty && this.#isShown) this.#stream.write(ERASE_LINE);
    this.#isShown = false;
  }
}

/** Runs `work` with a progress line on stderr, and removes the line when `work` ends. */
export async function withByteProgress<T>(
  { io, env }: CommandContext,
  work: (progress: ByteProgress) => Promise<T>,
): Promise<T> {
  const progress = new ByteProgress(io.stderr, env);
  try {
    return await work(progress);
  } finally {
    progress.clear();
  }
}

function progressLine(label: string, done: number, total: number, elapsedMs: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const filled = Math.round(share * BAR_WIDTH);
  const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
  const left = done > 0 && done < total ? `, ${duration((elapsedMs / done) * (total - done))} left` : "";
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  return `${label} ${bar} ${percent} ${done}/${total} [${duration(elapsedMs)}${left}] kB`;
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
