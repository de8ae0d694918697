import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { HttpError } from "nemo-gym";
import { type Sandbox, type SandboxExecResult, SandboxUnsupportedError, shellQuote } from "nemo-gym/sandbox";
import { z } from "zod";

/** Longest wait after one entry of keystrokes, and in one batch, in seconds. */
const MAX_WAIT_SECONDS = 60;
const MAX_BATCH_SECONDS = 300;
/** Maximum number of bytes of one screen or output that a model sees; longer ones lose their middle. */
const MAX_SCREEN_BYTES = 10_000;
const MAX_ENTRIES = 100;
const HISTORY_LINES = 50_000;
const OPEN_SECONDS = 20;
const POLL_MS = 50;

/** A batch of keystrokes. The whole text of an entry can be the name of a key for tmux, such as `C-c` or `Escape`. */
export const keystrokeBatch = z.object({
  commands: z
    .array(
      z.object({
        keystrokes: z.string(),
        /** Seconds to wait before the next entry. */
        duration: z.number().min(0).default(1),
      }),
    )
    .max(MAX_ENTRIES),
});
export type KeystrokeBatch = z.output<typeof keystrokeBatch>;

export interface TerminalOptions {
  width: number;
  height: number;
  /** How long to wait for tmux. */
  openSeconds?: number;
}

const KEY_NAME =
  /^(?:[CMS]-)+(?:.|\w{2,8})$|^(?:Enter|Escape|Tab|BTab|Space|BSpace|Up|Down|Left|Right|Home|End|[PN]Page|PageUp|PageDown|PgUp|PgDn|DC|IC|F\d\d?)$/;

/** A shell in a tmux window of a sandbox. Programs in it continue to run while nobody types. */
export class Terminal {
  readonly #sandbox: Sandbox;
  readonly #options: TerminalOptions;
  #socket = "";
  /** Everything that the window has shown when its content was last returned. */
  #seen: string | undefined;

  constructor(sandbox: Sandbox, options: TerminalOptions) {
    this.#sandbox = sandbox;
    this.#options = options;
  }

  /** Types keystrokes. Returns what the window shows for the first time, or its screen if that is unclear. */
  async type({ commands }: KeystrokeBatch, signal: AbortSignal): Promise<string> {
    let notice = "";
    let left = MAX_BATCH_SECONDS;
    if (this.#socket === "") await this.#open(signal);
    for (const { keystrokes, duration } of commands) {
      if (!(await this.#send(keystrokes, signal))) {
        await this.#open(signal);
        await this.#send(keystrokes, signal);
        notice = "The shell of the terminal had ended. This is a new one.\n";
      }
      const wait = Math.min(duration, MAX_WAIT_SECONDS, left);
      left -= wait;
      await sleep(wait * 1000, undefined, { signal });
    }
    return notice + clipped(await this.#show(signal));
  }

  async #open(signal: AbortSignal): Promise<void> {
    this.#socket = `/tmp/.gym-terminal-${randomBytes(6).toString("hex")}`;
    this.#seen = undefined;
    const { width, height } = this.#options;
    const server = [
      "command -v tmux >/dev/null || exit 127",
      `export TERM=xterm-256color; ${this.#tmux} start-server \\; set -g history-limit ${HISTORY_LINES} \\; ` +
        `new-session -d -s main -x ${width} -y ${height}`,
    ].join("\n");
    try {
      // Commands of some providers end with all their processes, so one command has to last as long as the terminal.
      const holder = await this.#sandbox.startProcess(`${server} && exec cat`);
      holder.stdout.resume();
      holder.stdin.on("error", () => {});
    } catch (error) {
      if (!(error instanceof SandboxUnsupportedError)) throw error;
      await this.#sandbox.exec(server, { signal });
    }
    const deadline = performance.now() + (this.#options.openSeconds ?? OPEN_SECONDS) * 1000;
    for (;;) {
      if ((await this.#run("has-session -t main", signal)).return_code === 0) return;
      if (performance.now() > deadline) throw await this.#unavailable(signal);
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  async #unavailable(signal: AbortSignal): Promise<HttpError> {
    const found = await this.#sandbox.exec("command -v tmux", { signal });
    const message =
      found.return_code === 0
        ? "tmux does not start in the sandbox."
        : "The sandbox has no tmux, which the terminal needs. Install it in the image of the task.";
    return new HttpError(500, message, {
      failure: { class: "sandbox_unavailable", retryable: false, message },
    });
  }

  /** Returns false if the window no longer exists. */
  async #send(keystrokes: string, signal: AbortSignal): Promise<boolean> {
    if (keystrokes === "") return true;
    // Text is pasted, because tmux reads a semicolon at the end of an argument as the end of a command.
    const { return_code } = KEY_NAME.test(keystrokes)
      ? await this.#run(`send-keys -t main ${shellQuote(keystrokes)}`, signal)
      : await this.#run("load-buffer - \\; paste-buffer -d -t main", signal, keystrokes);
    return return_code === 0;
  }

  async #show(signal: AbortSignal): Promise<string> {
    const { stdout, return_code } = await this.#run("capture-pane -p -J -S - -t main", signal);
    if (return_code !== 0) return "The shell of the terminal has ended.";
    const whole = (stdout ?? "").trimEnd();
    const before = this.#seen;
    this.#seen = whole;
    // The line of the prompt is shown again, because keystrokes continue it.
    const known = before?.slice(0, before.lastIndexOf("\n") + 1);
    if (known !== undefined && before !== whole && whole.startsWith(known))
      return `New output of the terminal:\n${whole.slice(known.length)}`;
    const { stdout: screen } = await this.#run("capture-pane -p -t main", signal);
    return `Screen of the terminal:\n${(screen ?? "").trimEnd()}`;
  }

  get #tmux(): string {
    return `tmux -f /dev/null -S ${this.#socket}`;
  }

  #run(command: string, signal: AbortSignal, stdin?: string): Promise<SandboxExecResult> {
    return this.#sandbox.exec(`${this.#tmux} ${command}`, { signal, ...(stdin !== undefined && { stdin }) });
  }
}

/** Leaves out the middle of a long text. */
export function clipped(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_SCREEN_BYTES) return text;
  const half = MAX_SCREEN_BYTES / 2;
  // A character that was cut in two becomes U+FFFD, which is removed.
  const part = (from: number, to?: number) =>
    bytes
      .subarray(from, to)
      .toString()
      .replace(/^�+|�+$/g, "");
  return `${part(0, half)}\n[… ${bytes.length - MAX_SCREEN_BYTES} bytes left out …]\n${part(bytes.length - half)}`;
}
