import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { errorMessage, GymError, redactor, sleep } from "nemo-gym";
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

/**
 * Runs the engine in a process group of its own that ends with us, even when we are killed: then the pipe to the guard closes, and the
 * guard ends the group.
 */
export const GUARD = `
const { spawn } = require("node:child_process");
const [command, ...words] = process.argv.slice(1);
const child = spawn(command, words, { stdio: ["ignore", "inherit", "inherit"] });
let ending = false;
const killAll = () => process.kill(0, "SIGKILL");
child.on("error", (error) => { console.error(error.message); process.exit(127); });
child.on("exit", (code, signal) => ending ? killAll() : process.exit(signal ? 1 : code));
process.on("SIGTERM", () => {});
const end = () => {
  ending = true;
  process.kill(0, "SIGTERM");
  setTimeout(killAll, ${STOP_GRACE_MS});
};
process.stdin.on("end", end).on("error", end).resume();
`;

interface LogLike {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface EngineOptions {
  /** The program, usually `vllm`. */
  executable: string;
  model: string;
  serveOptions: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string>>;
  /** Values that must not appear in what is logged. */
  secrets: readonly string[];
  startupTimeoutMs: number | null;
  maxRestarts: number;
  /** Logs every line of the engine instead of keeping the last ones for the case of failure. */
  verbose: boolean;
  log: LogLike;
}

/** A `vllm serve` of our own: started, waited for, started again when it dies, and ended with us. */
export class VllmEngine {
  readonly #options: EngineOptions;
  readonly #lines: string[] = [];
  readonly #redact: (text: string) => string;
  #port = 0;
  #child: ChildProcess | undefined;
  #stopping = false;
  #restarts = 0;
  #exit: { reason: string } | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#redact = redactor(options.secrets);
  }

  get baseUrl(): string {
    return `http://${HOST}:${this.#port}/v1`;
  }

  /** Starts the engine and returns when it answers; when it ends before that, its last lines are in the error. */
  async start(): Promise<void> {
    this.#port = await freePort();
    this.#options.log.info(
      `starting ${this.#options.executable} serve ${this.#options.model} on port ${this.#port}`,
    );
    this.#spawn();
    await this.#ready();
    this.#options.log.info("the engine answers");
  }

  /** Ends the engine and everything it started; returns when it is gone. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = this.#child;
    if (!child || this.#exit) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    // The guard sees the end of its input and ends the group.
    child.stdin?.end();
    const timer = setTimeout(() => kill(child), STOP_GRACE_MS + 1_000);
    await gone;
    clearTimeout(timer);
  }

  #spawn(): void {
    const { executable, model, serveOptions, env } = this.#options;
    const words = [
      "serve",
      model,
      "--host",
      HOST,
      "--port",
      String(this.#port),
      ...serveArguments(serveOptions),
    ];
    const child = spawn(process.execPath, ["-e", GUARD, "--", executable, ...words], {
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    this.#child = child;
    this.#exit = undefined;
    child.stdin?.on("error", () => {});
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.#note(line));
    }
    child.once("exit", (code, signal) => {
      // Workers that outlive their engine hold its GPUs.
      kill(child);
      this.#exit = { reason: signal ? `was ended by ${signal}` : `ended with code ${code}` };
      if (!this.#stopping) void this.#afterExit();
    });
  }

  #note(line: string): void {
    const text = this.#redact(line.slice(0, MAX_LINE));
    if (this.#options.verbose) this.#options.log.info(text);
    if (this.#lines.push(text) > LINES_KEPT) this.#lines.shift();
  }

  #wasReady = false;

  async #ready(): Promise<void> {
    const { startupTimeoutMs } = this.#options;
    const started = Date.now();
    for (;;) {
      if (this.#exit) throw this.#failure(this.#exit.reason);
      if (this.#stopping) throw this.#failure("was stopped while it was starting");
      if (await this.#answers()) break;
      if (startupTimeoutMs !== null && Date.now() - started > startupTimeoutMs) {
        throw this.#failure(`did not answer within ${startupTimeoutMs / 1000} s`);
      }
      await sleep(PROBE_EVERY_MS);
    }
    this.#wasReady = true;
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

  /** Calls wait meanwhile: to them the endpoint is down. */
  async #afterExit(): Promise<void> {
    const { log, maxRestarts } = this.#options;
    if (!this.#wasReady) return;
    log.error(this.#failure(this.#exit?.reason ?? "ended").message);
    if (this.#restarts >= maxRestarts) {
      log.error(`the engine has been started again ${this.#restarts} times; that is enough (max_restarts)`);
      return;
    }
    const pause = FIRST_RESTART_PAUSE_MS * 2 ** this.#restarts++;
    await sleep(pause);
    if (this.#stopping) return;
    log.warn(`starting the engine again (${this.#restarts} of ${maxRestarts})`);
    this.#wasReady = false;
    this.#spawn();
    try {
      await this.#ready();
      log.info("the engine answers again");
    } catch (error) {
      log.error(errorMessage(error));
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
