import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { errorMessage, GymError } from "../../errors.ts";
import { importTypeScript } from "../../import-typescript.ts";
import { watchReads } from "./argument-reads.ts";
import { createPrepareContext } from "./prepare-context.ts";
import type { PrepareRun, ToParent, ToWorker } from "./prepare-thread.ts";

const { file } = workerData as { file: string };
const stopped = new AbortController();
const tell = (message: ToParent) => parentPort?.postMessage(message);

parentPort?.on("message", (message: ToWorker) => {
  if (message.type === "abort") stopped.abort(new Error("interrupted"));
  else void run(message.run);
});

const prepare = await load();
if (prepare !== undefined) tell({ type: "loaded" });

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

async function run({ args: given, hub, ...options }: PrepareRun): Promise<void> {
  try {
    const { args, check } = watchReads(given, options.benchmark);
    const context = createPrepareContext({
      ...options,
      script: file,
      signal: stopped.signal,
      hub: {
        ...hub,
        signal: stopped.signal,
        onRetry: ({ message }, delayMs) => tell({ type: "retry", message, delayMs }),
      },
      log: (line) => tell({ type: "log", line }),
      beforeFinish: check,
    });
    const returned = await prepare?.(args, context);
    check();
    await written();
    tell({ type: "result", path: pathOf(returned), shown: String(returned) });
  } catch (error) {
    await written();
    const code = error instanceof GymError ? error.code : undefined;
    tell({ type: "failed", message: errorMessage(error), code });
  }
}

function pathOf(returned: unknown): string | undefined {
  if (returned instanceof URL) return decodeURIComponent(returned.pathname);
  return typeof returned === "string" ? returned : undefined;
}

/** What the script printed has reached the other thread. */
async function written(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => {
      stream.write("", () => resolve());
    });
}
