import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { errorMessage, GymError, type ServerContext, sleep } from "nemo-gym";
import { redactor } from "nemo-gym/models";
import { request } from "undici";
import { serveArguments } from "./serve-arguments.ts";

const HOST = "127.0.0.1";
const LINES_KEPT = 200;
const LINES_SHOWN = 40;
const MAX_LINE = 2_000;
const PROBE_EVERY_MS = 300;
const PROBE_TIMEOUT_MS = 5_000;
const STOP_GRACE_MS = 10_000;
const FIRST_RESTART_PAUSE_MS = 500;
const REPORT_EVERY_MS = 30_000;
/** Exit code of shells, and of our guard, for a missing program. */
const NOT_FOUND = 127;

/**
 * Runs the engine in its own process group, which ends with this process even if it is killed: the pipe to the guard closes, and
 * the guard kills the group.
 */
export const GUARD = `
const { spawn } = require("node:child_process");
const [command, ...args] = process.argv.slice(1);
const child = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"] });
let ending = false;
const killAll = () => process.kill(0, "SIGKILL");
child.on("error", (error) => { console.error(error.message); process.exit(${NOT_FOUND}); });
child.on("exit", (code, signal) => ending ? killAll() : process.exit(signal ? 1 : code));
process.on("SIGTERM", () => {});
const end = () => {
  ending = true;
  process.kill(0, "SIGTERM");
  setTimeout(killAll, ${STOP_GRACE_MS});
};
process.stdin.on("end", end).on("error", end).resume();
`;

export interface EngineOptions {
  /** The program, usually `vllm`. */
  executable: string;
  model: string;
  serveOptions: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string>>;
  /** Values that must not appear in logs. */
  secrets: readonly string[];
  startupTimeoutMs: number | null;
  maxRestarts: number;
  /** Interval of messages about a slow start. */
  reportEveryMs?: number;
  /** Logs every line of the engine instead of keeping only the last lines for error messages. */
  verbose: boolean;
  log: ServerContext["log"];
}

/** Runs `vllm serve`: starts it, waits until it responds, restarts it if it dies, and stops it with this process. */
export class VllmEngine {
  readonly #options: EngineOptions;
  readonly #lines: string[] = [];
  readonly #redact: (text: string) => string;
  #port = 0;
  #child: ChildProcess | undefined;
  #stopping = false;
  #restarts = 0;
  #exit: { reason: string } | undefined;
  /** Whether it has responded, so that it is restarted if it exits. */
  #supervised = false;
  readonly #gone = new AbortController();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#redact = redactor(options.secrets);
  }

  get baseUrl(): string {
    return `http://${HOST}:${this.#port}/v1`;
  }

  /** Aborts when the engine has exited and is not restarted; the reason explains why. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Starts the engine and returns when it responds. If it exits before that, the error contains its last lines. */
  async start(): Promise<void> {
    this.#port = await freePort();
    this.#options.log.info(
      `starting ${this.#options.executable} serve ${this.#options.model} on port ${this.#port}`,
    );
    this.#spawn();
    await this.#ready();
    this.#supervised = true;
    this.#options.log.info("the engine answers");
    // The engine may have exited after its first response.
    if (this.#exit && !this.#stopping) void this.#recover();
  }

  /** Stops the engine and all its child processes; returns when they have exited. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (!child || this.#exit) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    // The guard reads the end of its input and kills the group.
    child.stdin?.end();
    const timer = setTimeout(() => kill(child), STOP_GRACE_MS + 1_000);
    await gone;
    clearTimeout(timer);
  }

  #spawn(): void {
    const { executable, model, serveOptions, env } = this.#options;
    const args = [
      "serve",
      model,
      "--host",
      HOST,
      "--port",
      String(this.#port),
      ...serveArguments(serveOptions),
    ];
    const child = spawn(process.execPath, ["-e", GUARD, "--", executable, ...args], {
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    this.#child = child;
    this.#exit = undefined;
    this.#lines.length = 0;
    child.stdin?.on("error", () => {});
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.#note(line));
    }
    child.once("exit", (code, signal) => {
      // Workers that outlive their engine would keep its GPUs.
      kill(child);
      this.#exit = { reason: this.#endOf(code, signal) };
      if (this.#supervised && !this.#stopping) void this.#recover();
    });
  }

  #endOf(code: number | null, signal: NodeJS.Signals | null): string {
    if (signal) return `was ended by ${signal}`;
    if (code !== NOT_FOUND) return `ended with code ${code}`;
    return `could not be started: is '${this.#options.executable}' installed, and on the PATH? (Set vllm_executable, or base_url for an engine that runs already)`;
  }

  #note(line: string): void {
    const text = this.#redact(line.slice(0, MAX_LINE));
    if (this.#options.verbose) this.#options.log.info(text);
    if (this.#lines.push(text) > LINES_KEPT) this.#lines.shift();
  }

  async #ready(): Promise<void> {
    const { startupTimeoutMs, log, reportEveryMs = REPORT_EVERY_MS } = this.#options;
    const started = Date.now();
    let reported = started;
    for (;;) {
      if (this.#exit) throw this.#failure(this.#exit.reason);
      if (this.#stopping) throw this.#failure("was stopped while it was starting");
      if (await this.#answers()) return;
      const now = Date.now();
      if (startupTimeoutMs !== null && now - started > startupTimeoutMs) {
        throw this.#failure(`did not answer within ${startupTimeoutMs / 1000} s`);
      }
      if (now - reported > reportEveryMs) {
        reported = now;
        const lastLine = this.#lines.at(-1);
        const seconds = Math.round((now - started) / 1000);
        log.warn(
          `the engine has been starting for ${seconds} s${lastLine ? `; it said last: ${lastLine}` : ""}`,
        );
      }
      await sleep(PROBE_EVERY_MS);
    }
  }

  async #answers(): Promise<boolean> {
    try {
      const reply = await request(`${this.baseUrl}/models`, {
        signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      });
      await reply.body.dump();
      return true;
    } catch {
      return false;
    }
  }

  /** Restarts the engine until it responds or the restarts are used up. Calls wait, because the endpoint counts as down. */
  async #recover(): Promise<void> {
    const { log, maxRestarts, model } = this.#options;
    this.#supervised = false;
    let problem = this.#failure(this.#exit?.reason ?? "ended");
    while (!this.#stopping) {
      log.error(problem.message);
      if (this.#restarts >= maxRestarts) {
        const times = `its restarts are used up (max_restarts: ${maxRestarts})`;
        log.error(`the engine is given up: ${times}`);
        // The whole log is on the terminal; rows contain only a short text.
        const lastLine = this.#lines.findLast((line) => line.trim() !== "");
        const cause = `${this.#exit?.reason ?? "does not answer"}${lastLine ? ` (${lastLine.trim()})` : ""}`;
        this.#gone.abort(new GymError("VLLM_ENGINE", `vllm serve ${model} ${cause}; ${times}`));
        return;
      }
      await sleep(FIRST_RESTART_PAUSE_MS * 2 ** this.#restarts++);
      if (this.#stopping) return;
      log.warn(`starting the engine again (${this.#restarts} of ${maxRestarts})`);
      this.#spawn();
      try {
        await this.#ready();
        log.info("the engine answers again");
        this.#supervised = this.#exit === undefined;
        if (this.#supervised) return;
        problem = this.#failure(this.#exit?.reason ?? "ended");
      } catch (error) {
        problem = error instanceof GymError ? error : this.#failure(errorMessage(error));
        await this.#end();
      }
    }
  }

  #failure(what: string): GymError {
    const last = this.#lines.slice(-LINES_SHOWN).join("\n");
    return new GymError(
      "VLLM_ENGINE",
      `vllm serve ${this.#options.model} ${what}.${last && ` Its last lines:\n${last}`}`,
    );
  }
}

function kill(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, HOST, () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
