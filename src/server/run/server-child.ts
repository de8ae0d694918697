import { type ChildProcess, spawn } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { GymError } from "../../errors.ts";
import { compiledTwin } from "../locate-server.ts";
import type { ServerMessage, StartMessage } from "./messages.ts";
import type { ServerLog } from "./server-log.ts";

/** A child gets this long to end by itself; then its whole process group is killed. */
const STOP_GRACE_MS = 3_000;
const REAP_LIMIT_MS = 2_000;
/** Bodies of a thousand calls at once fit into a young generation of this size; with less, a quarter of the CPU goes into collecting it. */
const YOUNG_GENERATION = "--max-semi-space-size=32";

export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A server in a process group of its own. */
export class ServerChild {
  readonly pid: number;
  readonly ready: Promise<void>;
  readonly exited: Promise<ChildExit>;
  readonly #process: ChildProcess;

  constructor(
    message: StartMessage,
    log: ServerLog,
    onLag: (message: ServerMessage & { type: "lag" }) => void,
  ) {
    const suffix = extname(fileURLToPath(import.meta.url));
    const source = fileURLToPath(new URL(`./server-process${suffix}`, import.meta.url));
    const entry = compiledTwin(source, message.installRoot) ?? source;
    const loader = entry.endsWith(".ts") ? ["--import", "jiti/register"] : [];
    const child = spawn(process.execPath, [YOUNG_GENERATION, ...loader, entry], {
      // Its own group: stopping the server also stops whatever it has started.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: { ...process.env, NEMO_GYM_CONFIG_PATH: message.instance.name, TOKENIZERS_PARALLELISM: "false" },
    });
    this.#process = child;
    if (child.stdout) log.follow(child.stdout, "info");
    if (child.stderr) log.follow(child.stderr, "error");
    this.exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
    this.ready = new Promise((resolve, reject) => {
      child.once("error", (error) =>
        reject(new GymError("SERVER_START", `cannot be started: ${error.message}`)),
      );
      child.on("message", (reply: ServerMessage) => {
        if (reply.type === "loaded") {
          child.send(
            message,
            (error) => error && log.write(`cannot be told its config: ${error.message}`, "error"),
          );
        } else if (reply.type === "ready") resolve();
        else if (reply.type === "failed") reject(new GymError("SERVER_START", reply.message));
        else onLag(reply);
      });
      void this.exited.then(({ code, signal }) =>
        reject(
          new GymError(
            "SERVER_START",
            `ended with ${signal ? `signal ${signal}` : `code ${code}`} while starting`,
          ),
        ),
      );
    });
    this.ready.catch(() => {});
    this.pid = child.pid ?? -1;
  }

  /** Asks it to end, then insists; returns when nothing of its group is left, within a bounded time. */
  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode === null && signalCode === null) {
      this.#process.kill("SIGTERM");
      await within(this.exited, STOP_GRACE_MS);
    }
    // Also when the leader has gone: its children may not have.
    this.#killGroup();
    await within(this.exited, REAP_LIMIT_MS);
  }

  #killGroup(): void {
    if (this.pid <= 0) return;
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // No such group: everything has ended.
    }
  }
}

async function within(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([promise, new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)))]);
  clearTimeout(timer);
}
