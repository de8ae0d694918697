import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { GymError } from "../../../base/errors.ts";
import { settledWithin } from "../../../base/transport/light-door.ts";
import { entryPoint } from "../locate-server.ts";
import { HEAD_TOKEN_VARIABLE } from "./head-server.ts";
import { killAll } from "./marked-processes.ts";
import { exitText, type RayMessage, type ServerMessage, type StartMessage } from "./messages.ts";
import { killMarked, PROCESS_MARK } from "./process-tree.ts";
import type { ServerLog } from "./server-log.ts";

/** How long a child may take to end; after that its process group is killed. */
const STOP_GRACE_MS = 3_000;
const REAP_LIMIT_MS = 2_000;
/** With this size, the bodies of a thousand concurrent calls fit into the young generation and are collected there. */
const YOUNG_GENERATION = "--max-semi-space-size=32";

/** A server in a separate process group. */
export class ServerChild {
  readonly pid: number;
  readonly ready: Promise<void>;
  /** How it ended, as a phrase that follows its name. */
  readonly exited: Promise<string>;
  readonly #process: ChildProcess;
  readonly #mark = randomUUID();
  #lastWord: string | undefined;

  constructor(
    message: StartMessage,
    log: ServerLog,
    on: {
      lag: (message: ServerMessage & { type: "lag" }) => void;
      ray: (message: ServerMessage & { type: "ray" }) => Promise<RayMessage>;
    },
  ) {
    const { file, execArgv } = entryPoint("server-process", import.meta.url, message.installRoot);
    const child = spawn(process.execPath, [YOUNG_GENERATION, ...execArgv, file], {
      // Its own group: stopping the server also stops whatever it has started.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: {
        ...process.env,
        ...message.variables,
        NEMO_GYM_CONFIG_PATH: message.instance.name,
        [HEAD_TOKEN_VARIABLE]: message.headToken,
        TOKENIZERS_PARALLELISM: "false",
        [PROCESS_MARK]: this.#mark,
      },
    });
    this.#process = child;
    if (child.stdout) log.follow(child.stdout, "info");
    if (child.stderr) log.follow(child.stderr, "error");
    this.exited = new Promise((resolve) =>
      child.once("exit", (code, signal) => resolve(this.#lastWord ?? exitText(code, signal))),
    );
    this.ready = new Promise((resolve, reject) => {
      child.once("error", (error) =>
        reject(new GymError("SERVER_START", `cannot be started: ${error.message}`)),
      );
      child.on("message", (reply: ServerMessage) => {
        if (reply.type === "loaded") {
          child.send(
            message,
            (error) => error && log.write(`its config could not be sent: ${error.message}`, "error"),
          );
        } else if (reply.type === "ready") resolve();
        else if (reply.type === "failed") reject(new GymError("SERVER_START", reply.message));
        else if (reply.type === "ending") this.#lastWord = reply.message;
        else if (reply.type === "ray") void on.ray(reply).then((answer) => child.send(answer, () => {}));
        else on.lag(reply);
      });
      void this.exited.then((how) => reject(new GymError("SERVER_START", `${how} while starting`)));
    });
    this.ready.catch(() => {});
    this.pid = child.pid ?? -1;
  }

  /** Asks the process to end, then kills its group. Resolves when the group has ended, within a bounded time. */
  async stop(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode === null && signalCode === null) {
      this.#process.kill("SIGTERM");
      await settledWithin(this.exited, STOP_GRACE_MS);
    }
    // Also when the leader has ended, because its children may still run.
    if (this.pid > 0) killAll([-this.pid]);
    killMarked(this.#mark);
    await settledWithin(this.exited, REAP_LIMIT_MS);
  }
}
