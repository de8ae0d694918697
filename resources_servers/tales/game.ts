import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { errorMessage, HttpError } from "nemo-gym";
import { z } from "zod";

/** Variables that the Python program needs; all others may hold secrets. */
const PASSED = ["PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV", "JAVA_HOME", "LD_LIBRARY_PATH"];
const MAX_ERROR_TEXT = 4_000;

const Launched = z.object({ observation: z.string(), info: z.record(z.string(), z.unknown()) });
const Stepped = Launched.extend({ score: z.number(), done: z.boolean() });
const Failed = z.object({ error: z.string() });

export interface GameOptions {
  python: string;
  /** Folders in which Python looks for modules first. */
  pythonPath: readonly string[];
  directory: string;
  timeoutMs: number;
}

/** One game in a Python process of its own. */
export class Game {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly lines: AsyncIterator<string>;
  private readonly timeoutMs: number;
  private errorText = "";

  private constructor(child: ChildProcessWithoutNullStreams, timeoutMs: number) {
    this.child = child;
    this.timeoutMs = timeoutMs;
    this.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stderr.on("data", (text) => {
      this.errorText = (this.errorText + String(text)).slice(-MAX_ERROR_TEXT);
    });
    // A process that ended shows in its replies.
    child.stdin.on("error", () => {});
  }

  static async launch(
    task: object,
    { python, pythonPath, directory, timeoutMs }: GameOptions,
    signal: AbortSignal,
  ) {
    const search = [...pythonPath, process.env["PYTHONPATH"] ?? ""].filter(Boolean).join(path.delimiter);
    const env = Object.fromEntries(
      PASSED.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
    );
    const child = spawn(python, [path.join(directory, "games.py")], {
      env: { ...env, PYTHONPATH: search, PYTHONDONTWRITEBYTECODE: "1" },
    });
    try {
      await once(child, "spawn");
    } catch (error) {
      throw new HttpError(400, `The games need Python: ${errorMessage(error)}`);
    }
    const game = new Game(child, timeoutMs);
    try {
      return { game, ...Launched.parse(await game.ask(task, signal)) };
    } catch (error) {
      game.close();
      throw error instanceof GameError
        ? new HttpError(400, `The game cannot start: ${error.message}`)
        : error;
    }
  }

  async step(command: string, signal: AbortSignal) {
    return Stepped.parse(await this.ask({ command }, signal));
  }

  close(): void {
    this.child.kill("SIGKILL");
  }

  private async ask(request: object, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    let isLate = false;
    const stop = () => this.close();
    const timer = setTimeout(() => {
      isLate = true;
      stop();
    }, this.timeoutMs);
    signal.addEventListener("abort", stop, { once: true });
    try {
      this.child.stdin.write(`${JSON.stringify(request)}\n`);
      // Ends without a line when the process is stopped.
      const next = await this.lines.next();
      signal.throwIfAborted();
      if (isLate) throw new GameError(`no reply in ${this.timeoutMs / 1000} seconds`);
      if (next.done)
        throw new GameError(`the program ended: ${this.errorText.trim() || "without a message"}`);
      const reply: unknown = JSON.parse(next.value);
      const failed = Failed.safeParse(reply);
      if (failed.success) throw new GameError(failed.data.error);
      return reply;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }
}

/** The game or its library failed. */
class GameError extends Error {}
