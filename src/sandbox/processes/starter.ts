import { type ChildProcess, fork } from "node:child_process";
import { extname } from "node:path";
import { type Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { ProcessRequest } from "./run-process.ts";
import type { EndedProcess, ProcessOrder } from "./running-process.ts";

/** `taken` confirms a chunk. Each side waits for it before the next chunk, so that only one is in flight. */
export type ToStarter = { id: number } & (
  | {
      type: "start";
      order: ProcessOrder;
      stdin: string | Uint8Array | undefined;
      /** Whether chunks of input follow. */
      sendsInput: boolean;
      /** Whether to send stdout back as it arrives. */
      wantsOutput: boolean;
    }
  | { type: "chunk"; chunk: Uint8Array }
  | { type: "end" }
  | { type: "taken" }
  | { type: "kill" }
);

export type FromStarter = { id: number } & (
  | { type: "started"; pid: number }
  | { type: "chunk"; chunk: Uint8Array }
  | { type: "taken" }
  | { type: "ended"; outcome: EndedProcess }
  | { type: "failed"; message: string; code: unknown }
);

type WithoutId<T> = T extends unknown ? Omit<T, "id"> : never;
type Hear = (message: WithoutId<FromStarter>) => void;

/**
 * Starts processes from a small child process. Node blocks the event loop until the new process runs its program, and the
 * fork copies the page tables of this process, which makes its next writes slow.
 */
class Starter {
  readonly #child: ChildProcess;
  readonly #running = new Map<number, Hear>();
  #lastId = 0;
  #keepingAwake = 0;

  constructor() {
    const suffix = extname(fileURLToPath(import.meta.url));
    this.#child = fork(fileURLToPath(new URL(`./starter-program${suffix}`, import.meta.url)), {
      serialization: "advanced",
      // Signals of the terminal must reach this process only. It decides which processes end.
      detached: true,
      // Each start request contains the environment of the new process.
      env: {},
      execArgv: suffix === ".ts" ? ["--import", "jiti/register"] : [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child.unref();
    this.#child.channel?.unref();
    this.#child.on("message", ({ id, ...message }: FromStarter) => this.#running.get(id)?.(message));
    const fail = (reason: string) => {
      starter = undefined;
      const message = `The program that starts processes ${reason}.`;
      for (const hear of this.#running.values()) hear({ type: "failed", message, code: undefined });
    };
    this.#child.once("error", (error) => fail(`failed: ${error.message}`));
    this.#child.once("exit", (code, signal) => fail(`has ended (${signal ?? code})`));
  }

  start(hear: Hear, keepAwake: boolean): { post: (message: WithoutId<ToStarter>) => void; done: () => void } {
    const id = ++this.#lastId;
    this.#running.set(id, hear);
    if (keepAwake && ++this.#keepingAwake === 1) this.#child.channel?.ref();
    return {
      post: (message) => {
        if (this.#child.connected) this.#child.send({ id, ...message });
      },
      done: () => {
        this.#running.delete(id);
        if (keepAwake && --this.#keepingAwake === 0) this.#child.channel?.unref();
      },
    };
  }
}

let starter: Starter | undefined;

/** Runs a process. `stop` kills it. */
export function startProcess(request: ProcessRequest, stop: AbortSignal): Promise<EndedProcess> {
  return new Promise((resolve, reject) => {
    const { stdin, stdoutTo, onStarted, background, signal: _, timeoutMs: __, ...order } = request;
    const isStream = stdin !== undefined && typeof stdin !== "string" && !(stdin instanceof Uint8Array);
    starter ??= new Starter();
    const { post, done } = starter.start((message) => {
      if (message.type === "started") onStarted?.(message.pid, kill);
      else if (message.type === "chunk") stdoutTo?.write(message.chunk, () => post({ type: "taken" }));
      else if (message.type === "taken") input?.taken();
      else {
        done();
        stop.removeEventListener("abort", kill);
        if (isStream) stdin.destroy();
        if (message.type === "ended") resolve(message.outcome);
        else reject(Object.assign(new Error(message.message), { code: message.code }));
      }
    }, background !== true);
    const kill = () => post({ type: "kill" });
    stop.addEventListener("abort", kill, { once: true });
    post({
      type: "start",
      order: { ...order, env: { ...(order.env ?? process.env) }, cwd: order.cwd ?? process.cwd() },
      stdin: isStream ? undefined : stdin,
      sendsInput: isStream,
      wantsOutput: stdoutTo !== undefined,
    });
    const input = isStream ? pump(stdin, post) : undefined;
    if (stop.aborted) kill();
  });
}

/** Sends a stream in chunks. */
function pump(input: Readable, post: (message: WithoutId<ToStarter>) => void): { taken: () => void } {
  let done: (() => void) | undefined;
  const sender = new Writable({
    write: (chunk: Uint8Array, _encoding, callback) => {
      done = callback;
      post({ type: "chunk", chunk });
    },
    final: (callback) => {
      post({ type: "end" });
      callback();
    },
  });
  input.on("error", () => sender.end());
  input.pipe(sender);
  return { taken: () => done?.() };
}
