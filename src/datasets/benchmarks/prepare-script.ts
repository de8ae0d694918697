import { type ExecFileException, execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { errorMessage } from "../../errors.ts";
import { DatasetError } from "../errors.ts";
import { type PrepareRun, PrepareThread, type ThreadEvents } from "./prepare-thread.ts";

export type PrepareArgs = Readonly<Record<string, unknown>>;

/** A script that writes the rows of a benchmark. */
export interface PrepareScript {
  readonly file: string;
  /** Writes the rows and returns their path, or the text of a value that is not a path. */
  run(run: PrepareRun, events: ThreadEvents): Promise<PrepareResult>;
  /** Ends the thread of a script that will not run any more. */
  close(): Promise<void>;
}

export interface PrepareResult {
  readonly path: string | undefined;
  readonly shown: string;
}

/** What a script may be written in besides Python; tried in this order where only the Python name is given. */
const NODE_EXTENSIONS = [".ts", ".js", ".mjs"];
const MAX_OUTPUT = 64 * 1024 * 1024;
/** Between the lines a Python script prints and the path it returns. */
const RESULT_MARK = "NEMO_GYM_PREPARED=";

/** Loads a script; the error names the problem. Python scripts are inspected, not run. */
export async function loadPrepareScript(given: string, signal: AbortSignal): Promise<PrepareScript> {
  const file = existingScript(given);
  if (file === undefined) throw problem(`${given} does not exist.`);
  return path.extname(file) === ".py" ? loadPython(file, signal) : loadNode(file, signal);
}

/** `prepare.py` of the original's configs stands for our `prepare.ts` where there is no Python file. */
export function existingScript(given: string): string | undefined {
  if (existsSync(given)) return given;
  if (path.extname(given) !== ".py") return undefined;
  const stem = given.slice(0, -".py".length);
  return NODE_EXTENSIONS.map((extension) => stem + extension).find((file) => existsSync(file));
}

async function loadNode(file: string, signal: AbortSignal): Promise<PrepareScript> {
  let thread: PrepareThread;
  try {
    thread = await PrepareThread.load(file, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw problem(errorMessage(error), error);
  }
  return { file, run: (run, events) => thread.run(run, events), close: () => thread.close() };
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

/** Calls \`prepare(**args)\` in a Python of its own; what it prints is passed on. */
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

function problem(message: string, cause?: unknown): DatasetError {
  return new DatasetError("BENCHMARK_SCRIPT", message, { cause });
}
