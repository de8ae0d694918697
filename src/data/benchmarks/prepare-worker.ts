import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { errorMessage, GymError } from "../../base/errors.ts";
import { suggest } from "../../base/suggest.ts";
import { importTypeScript } from "../../config/import-typescript.ts";
import { DatasetError } from "../errors.ts";
import type { HubAccess } from "../remote/hub-access.ts";
import { createPrepareContext, type PrepareContextOptions } from "./prepare-context.ts";
import type { PrepareRun, ToParent, ToWorker } from "./prepare-script.ts";

const { file } = workerData as { file: string };
const stopped = new AbortController();
const tell = (message: ToParent) => parentPort?.postMessage(message);

parentPort?.on("message", (message: ToWorker) => {
  if (message.type === "abort") stopped.abort(new Error("interrupted"));
  else void run(message.run);
});

const isYaml = file.endsWith(".yaml");
const prepare = isYaml ? undefined : await load();
if (isYaml || prepare !== undefined) tell({ type: "loaded" });

async function load(): Promise<((args: unknown, context: unknown) => unknown) | undefined> {
  try {
    const module = file.endsWith(".ts")
      ? await importTypeScript(file)
      : ((await import(pathToFileURL(file).href)) as Record<string, unknown>);
    const { prepare } = module;
    if (typeof prepare === "function") return prepare as (args: unknown, context: unknown) => unknown;
    tell({ type: "failed", message: `${file} exports no function 'prepare'.` });
  } catch (error) {
    tell({ type: "failed", message: `${file} cannot be loaded: ${errorMessage(error)}` });
  }
  return undefined;
}

async function run({ args, hub: given, ...options }: PrepareRun): Promise<void> {
  const { signal } = stopped;
  const hub: HubAccess = {
    ...given,
    signal,
    onRetry: ({ message }, delayMs) => tell({ type: "retry", message, delayMs }),
  };
  const log = (line: string) => tell({ type: "log", line });
  try {
    const returned = isYaml
      ? await (await import("../prepare/prepare-from-yaml.ts")).prepareFromYaml(file, args, {
          ...options,
          hub,
          signal,
          log,
        })
      : await runScript(args, { ...options, script: file, signal, hub, log });
    await written();
    tell({ type: "result", path: pathOf(returned), shown: String(returned) });
  } catch (error) {
    await written();
    const code = error instanceof GymError ? error.code : undefined;
    tell({ type: "failed", message: errorMessage(error), code });
  }
}

async function runScript(
  given: PrepareRun["args"],
  options: Omit<PrepareContextOptions, "beforeFinish">,
): Promise<unknown> {
  const { args, check } = watchReads(given, options.benchmark);
  const returned = await prepare?.(args, createPrepareContext({ ...options, beforeFinish: check }));
  check();
  return returned;
}

function pathOf(returned: unknown): string | undefined {
  if (returned instanceof URL) return decodeURIComponent(returned.pathname);
  return typeof returned === "string" ? returned : undefined;
}

/** Waits until the output of the script has reached the other thread. */
async function written(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => {
      stream.write("", () => resolve());
    });
}

/**
 * Records which arguments a script reads, because `prepare(args)` does not declare them. `check` fails if an argument was not
 * read: a misspelt name would otherwise have no effect.
 */
function watchReads(given: Readonly<Record<string, unknown>>, benchmark: string) {
  const read = new Set<string>();
  const note = (key: string | symbol) => {
    if (typeof key === "string") read.add(key);
  };
  const args = new Proxy({ ...given } as Record<string, unknown>, {
    get(target, key) {
      note(key);
      return Reflect.get(target, key) as unknown;
    },
    has(target, key) {
      note(key);
      return Reflect.has(target, key);
    },
    // Code that lists all arguments (`...args`, JSON.stringify) reads each of them.
    ownKeys(target) {
      for (const key of Object.keys(target)) note(key);
      return Reflect.ownKeys(target);
    },
  });
  return {
    args,
    check() {
      const unread = Object.keys(given).filter((key) => !read.has(key));
      const [first] = unread;
      if (first === undefined) return;
      const others = [...read].filter((key) => !unread.includes(key) && key !== "toJSON");
      const nearest = suggest(first, others);
      const known = others.length === 0 ? "it reads none" : `it reads ${others.join(", ")}`;
      throw new DatasetError(
        "BENCHMARK_ARGUMENT",
        `${benchmark}: the prepare script does not read ${unread.map((key) => `prepare_script_args.${key}`).join(", ")}; ` +
          `${known}.${nearest === undefined ? "" : ` Did you mean \`${nearest}\`?`}`,
      );
    },
  };
}
