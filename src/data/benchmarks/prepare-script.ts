import { type ExecFileException, execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { errorMessage, GymError } from "../../base/errors.ts";
import { DatasetError } from "../errors.ts";
import { RemoteError } from "../remote/errors.ts";
import type { HubAccess } from "../remote/hub-access.ts";

/** A script that writes the rows of a benchmark. */
export interface PrepareScript {
  readonly file: string;
  run(run: PrepareRun, events: PrepareEvents): Promise<PrepareResult>;
  /** Stops the thread of a script. */
  close(): Promise<void>;
}

export interface PrepareRun {
  readonly args: Readonly<Record<string, unknown>>;
  readonly benchmark: string;
  readonly outputPath: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly python: string;
  readonly hub: Pick<HubAccess, "token" | "hubUrl" | "retries">;
  /** Write at most this many rows. Scripts do not know it; a `prepare.yaml` does. */
  readonly limit?: number;
}

interface PrepareEvents {
  readonly log: (line: string) => void;
  readonly onRetry?: HubAccess["onRetry"];
}

export interface PrepareResult {
  /** The path of the rows. Undefined if the script returned something else. */
  readonly path: string | undefined;
  /** The returned value as text. */
  readonly shown: string;
}

/** Extensions of what is not in Python, in the order of the search for a script with a Python name. */
const NODE_EXTENSIONS = [".yaml", ".ts", ".js", ".mjs"];
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Marks the line with the path that a Python script returned. */
const RESULT_MARK = "NEMO_GYM_PREPARED=";
/** Time for a script to stop after its signal is aborted. */
const STOP_GRACE_MS = 1_000;

/** Loads a script. A Python script is inspected but not run. */
export async function loadPrepareScript(given: string, signal: AbortSignal): Promise<PrepareScript> {
  const file = existingScript(given);
  if (file === undefined) throw problem(`${given} does not exist.`);
  if (path.extname(file) === ".py") return loadPython(file, signal);
  try {
    return await PrepareThread.load(file, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw problem(errorMessage(error), error);
  }
}

/** Finds a script. Configs of the original name `prepare.py`, which may be a `prepare.yaml` or `prepare.ts` here. */
export function existingScript(given: string): string | undefined {
  if (existsSync(given)) return given;
  if (path.extname(given) !== ".py") return undefined;
  const stem = given.slice(0, -".py".length);
  return NODE_EXTENSIONS.map((extension) => stem + extension).find((file) => existsSync(file));
}

async function loadPython(file: string, signal: AbortSignal): Promise<PrepareScript> {
  const text = await readFile(file, "utf8");
  if (!/^(?:async +)?def +prepare *\(/m.test(text)) throw problem(`${file} defines no function 'prepare'.`);
  return {
    file,
    run: async (run, { log }) => {
      const path = await runPython(file, run, log, signal);
      return { path, shown: path };
    },
    close: async () => {},
  };
}

const PYTHON_RUNNER = `
import asyncio, importlib.util, inspect, json, sys
spec = importlib.util.spec_from_file_location("prepare", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
result = module.prepare(**json.loads(sys.argv[2]))
if inspect.isawaitable(result):
    result = asyncio.run(result)
print("${RESULT_MARK}" + json.dumps(str(result)))
`;

/** Calls \`prepare(**args)\` in a Python process and logs its output. */
function runPython(
  file: string,
  { args, python, env, roots }: PrepareRun,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      signal,
      maxBuffer: MAX_OUTPUT,
      env: { ...env, PYTHONPATH: [...roots, env["PYTHONPATH"]].filter(Boolean).join(path.delimiter) },
    };
    const words = ["-c", PYTHON_RUNNER, file, JSON.stringify(args)];
    const finished = (error: ExecFileException | null, stdout: string, stderr: string) => {
      const lines = stdout.split("\n").filter((line) => line !== "");
      const result = lines.findLast((line) => line.startsWith(RESULT_MARK));
      for (const line of lines) if (line !== result) log(line);
      if (error !== null || result === undefined) {
        const detail = stderr.trim().slice(-2_000) || errorMessage(error);
        reject(problem(`${file} failed: ${detail}`, error));
      } else resolve(String(JSON.parse(result.slice(RESULT_MARK.length))));
    };
    execFile(python, words, options, finished);
  });
}

export type ToWorker = { type: "abort" } | { type: "run"; run: PrepareRun };

export type ToParent =
  | { type: "loaded" }
  | { type: "log"; line: string }
  | { type: "retry"; message: string; delayMs: number }
  | ({ type: "result" } & PrepareResult)
  | { type: "failed"; message: string; code?: string };

/** A script in its own thread, so that it can be stopped even in an endless loop and cannot exit this process. */
class PrepareThread implements PrepareScript {
  readonly file: string;
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  readonly #stop: () => void;
  #killer: NodeJS.Timeout | undefined;
  #hasEnded = false;
  /** Output printed while loading, before there is a listener. */
  readonly #early: string[] = [];
  #events: PrepareEvents = { log: (line) => this.#early.push(line) };

  private constructor(file: string, signal: AbortSignal) {
    this.file = file;
    this.#signal = signal;
    const suffix = path.extname(fileURLToPath(import.meta.url));
    this.#worker = new Worker(new URL(`./prepare-worker${suffix}`, import.meta.url), {
      name: "prepare",
      workerData: { file },
      execArgv: suffix === ".ts" ? ["--import", "jiti/register"] : [],
      stdout: true,
      stderr: true,
    });
    for (const stream of [this.#worker.stdout, this.#worker.stderr])
      onLines(stream, (line) => this.#events.log(line));
    this.#worker.once("exit", () => {
      this.#hasEnded = true;
    });
    this.#stop = () => {
      this.#post({ type: "abort" });
      this.#killer = setTimeout(() => void this.#worker.terminate(), STOP_GRACE_MS);
    };
    signal.addEventListener("abort", this.#stop, { once: true });
  }

  static async load(file: string, signal: AbortSignal): Promise<PrepareThread> {
    signal.throwIfAborted();
    const thread = new PrepareThread(file, signal);
    try {
      await thread.#answer("loaded", "ended the program while it was loaded");
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  async run(run: PrepareRun, events: PrepareEvents): Promise<PrepareResult> {
    this.#events = events;
    for (const line of this.#early.splice(0)) events.log(line);
    try {
      const answer = this.#answer("result", "ended the program before `prepare` gave a path");
      this.#post({ type: "run", run });
      return await answer;
    } finally {
      await this.close();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#killer);
    this.#signal.removeEventListener("abort", this.#stop);
    await this.#worker.terminate();
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  /** Waits for a message of type `wanted`. `ended` is the problem of a thread that exits before. */
  #answer<T extends "loaded" | "result">(wanted: T, ended: string): Promise<Extract<ToParent, { type: T }>> {
    return new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(this.#signal.aborted ? this.#signal.reason : error);
      const onMessage = (message: ToParent) => {
        if (message.type === "log") this.#events.log(message.line);
        else if (message.type === "retry")
          this.#events.onRetry?.(new RemoteError("REMOTE_UNREACHABLE", message.message), message.delayMs);
        else if (message.type === "failed") {
          const { code, message: text } = message;
          fail(code === undefined ? new Error(text) : new GymError(code, text));
        } else if (message.type === wanted) {
          this.#worker.off("message", onMessage);
          resolve(message as Extract<ToParent, { type: T }>);
        }
      };
      this.#worker.on("message", onMessage);
      this.#worker.once("error", fail);
      const failEnded = () => fail(problem(`${this.file} ${ended} (process.exit?).`));
      // The thread may have exited while the script waited for its turn.
      if (this.#hasEnded) failEnded();
      else this.#worker.once("exit", failEnded);
    });
  }
}

function onLines(stream: Readable, line: (text: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const found of lines) line(found);
  });
  stream.on("end", () => {
    if (rest !== "") line(rest);
  });
}

function problem(message: string, cause?: unknown): DatasetError {
  return new DatasetError("BENCHMARK_SCRIPT", message, { cause });
}
