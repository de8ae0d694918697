import { fork } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { errorMessage, GymError } from "../../../base/errors.ts";

/** Time without a message after which the child is considered hung. */
const HANG_LIMIT_MS = 60_000;
const MAX_STDERR = 4_000;

/** The messages of the child process. */
type ChildMessage<Report> =
  | { readonly type: "ready" }
  | { readonly type: "progress"; readonly what: string }
  | { readonly type: "report"; readonly report: Report }
  | { readonly type: "failed"; readonly message: string }
  | { readonly type: "done" };

export interface WatchedChildOptions {
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onProgress?: (what: string) => void;
  readonly hangLimitMs?: number;
  /** Creates the error for a child that hangs, crashes or fails. */
  readonly problem: (message: string) => Error;
}

/**
 * Runs a request in a new process and returns its reports, so that user code that hangs or crashes does no harm. The error
 * names the last step of the child. `module` is the file without its extension.
 */
export async function runWatchedChild<Request extends object, Report>(
  module: URL,
  request: Request,
  { signal, env, onProgress, hangLimitMs = HANG_LIMIT_MS, problem }: WatchedChildOptions,
): Promise<Report[]> {
  const suffix = extname(fileURLToPath(import.meta.url));
  const child = fork(`${fileURLToPath(module)}${suffix}`, {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced",
    env: { ...env },
    signal,
    killSignal: "SIGKILL",
    execArgv: suffix === ".ts" ? ["--import", "jiti/register"] : [],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR);
  });
  return new Promise((resolve, reject) => {
    const reports: Report[] = [];
    let last = "starting";
    let finished = false;
    let timer: NodeJS.Timeout | undefined;
    const end = (settle: () => void) => {
      finished = true;
      clearTimeout(timer);
      child.kill("SIGKILL");
      settle();
    };
    const watch = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const seconds = Math.round(hangLimitMs / 1000);
        end(() => reject(problem(`It hung for ${seconds} s at: ${last}. The process was ended.`)));
      }, hangLimitMs);
    };
    watch();
    child.on("message", (message: ChildMessage<Report>) => {
      watch();
      switch (message.type) {
        case "ready":
          child.send(request);
          break;
        case "progress":
          last = message.what;
          onProgress?.(message.what);
          break;
        case "report":
          reports.push(message.report);
          break;
        case "failed":
          end(() => reject(problem(message.message)));
          break;
        case "done":
          end(() => resolve(reports));
          break;
      }
    });
    child.on("error", (error) => end(() => reject(signal.aborted ? error : problem(error.message))));
    child.on("exit", (code, killedBy) => {
      if (finished) return;
      const how = killedBy === null ? `code ${code}` : `signal ${killedBy}`;
      const detail = stderr.trim() === "" ? "" : `\n${stderr.trim()}`;
      end(() => reject(problem(`The process ended with ${how} at: ${last}.${detail}`)));
    });
  });
}

/** The side of the child: works on one request and sends its reports. */
export function serveWatchedChild<Request, Report>(
  work: (
    request: Request,
    tell: { progress(what: string): void; report(report: Report): void },
  ) => Promise<void>,
): void {
  const send = (message: ChildMessage<Report>) => void process.send?.(message);
  const serve = async (request: Request) => {
    try {
      await work(request, {
        progress: (what) => send({ type: "progress", what }),
        report: (report) => send({ type: "report", report }),
      });
      send({ type: "done" });
    } catch (error) {
      const stack = error instanceof GymError ? undefined : (error as Error).stack;
      send({ type: "failed", message: stack ?? errorMessage(error) });
    } finally {
      process.disconnect();
    }
  };
  process.once("message", (request: Request) => void serve(request));
  send({ type: "ready" });
}
