import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { GymError } from "../../../base/errors.ts";

/** A server and the folders its code may be loaded from. */
export interface HostedCode {
  server: string;
  directories: string[];
}

/**
 * The locations of a server's code: its folder, the target of symbolic links, and the compiled version of a built-in
 * server.
 */
export function hostedCode(server: string, directory: string, installRoot: string): HostedCode {
  const real = existsSync(directory) ? realpathSync(directory) : directory;
  const inside = relative(existsSync(installRoot) ? realpathSync(installRoot) : installRoot, real);
  const twin = inside.startsWith("..") ? [] : [join(installRoot, "dist", inside)];
  return { server, directories: [...new Set([directory, real, ...twin])] };
}

/** The server a file belongs to; `file` is a path or a file URL. */
export function serverOfFile(file: string, code: readonly HostedCode[]): string | undefined {
  const path = pathOf(file);
  return code.find(({ directories }) => directories.some((directory) => path.startsWith(directory + sep)))
    ?.server;
}

const CORE = fileURLToPath(new URL("../../..", import.meta.url));
const FRAME = /^\s+at (?:.*\()?(?:async )?(.+?)(?::\d+)*\)?$/;

/** Files of the functions on the stack, innermost first. */
function callingFiles(): string[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = 100;
    Error.prepareStackTrace = (_error, sites) => sites.map((site) => site.getFileName() ?? "");
    return new Error().stack as unknown as string[];
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The server that an error comes from: the innermost one in its stack. */
export function serverOfError(error: unknown, code: readonly HostedCode[]): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  for (const line of stack.split("\n")) {
    const file = FRAME.exec(line)?.[1];
    const server = file === undefined ? undefined : serverOfFile(file, code);
    if (server !== undefined) return server;
  }
  return undefined;
}

/** Whether a file belongs to this package or to Node. Such stack lines are not useful to authors. */
function isInternal(file: string): boolean {
  const path = pathOf(file);
  return !isAbsolute(path) || path.startsWith(CORE) || file.includes(`${sep}node_modules${sep}jiti${sep}`);
}

function pathOf(file: string): string {
  return file.startsWith("file:") ? fileURLToPath(file) : file;
}

/** Message and stack of an exception, reduced to lines of the author's code. */
export function authorTrace(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const lines = (error.stack ?? `${error.name}: ${error.message}`).split("\n");
  return lines
    .filter((line) => {
      const file = FRAME.exec(line)?.[1];
      return file === undefined || !isInternal(file);
    })
    .join("\n");
}

/** The message for an exception outside a request. */
export function strayText(error: unknown): string {
  return `thrown outside of a request: ${authorTrace(error)}`;
}

/**
 * Reports exceptions outside of requests: one in the code of a server must not end the rollouts of the others. After
 * `close`, leftover timers of servers may still throw, which is ignored; other exceptions are from this package and end
 * the process.
 */
export function catchStrays(
  code: readonly HostedCode[],
  onStray: (text: string, server: string | undefined) => void,
): { close(options: { listen: boolean }): void } {
  let isClosed = false;
  const listener = (error: unknown) => {
    const server = error instanceof ServerExitError ? error.server : serverOfError(error, code);
    if (!isClosed) return onStray(strayText(error), server);
    if (server !== undefined) return;
    end();
    throw error;
  };
  const end = () => {
    process.off("uncaughtException", listener);
    process.off("unhandledRejection", listener);
  };
  process.on("uncaughtException", listener);
  process.on("unhandledRejection", listener);
  return {
    close({ listen }) {
      isClosed = true;
      if (!listen) end();
    },
  };
}

/** The code of a server called `process.exit`. */
export class ServerExitError extends GymError {
  readonly server: string;

  constructor(server: string, code: unknown) {
    super(
      "SERVER_EXIT",
      `Server '${server}' called process.exit(${code ?? ""}); a server cannot end the process it runs in: throw an error instead`,
    );
    this.server = server;
  }
}

const guarded = new Set<readonly HostedCode[]>();
let realExit: typeof process.exit | undefined;

/**
 * Makes `process.exit` throw when code of these servers calls it: the current call fails and the run continues. The
 * stack identifies the caller, so there is no cost until then. Returns a function that restores `process.exit`.
 */
export function guardExit(code: readonly HostedCode[]): () => void {
  guarded.add(code);
  if (realExit === undefined) {
    realExit = process.exit;
    process.exit = exitUnlessHosted as typeof process.exit;
  }
  return () => {
    guarded.delete(code);
    if (guarded.size > 0 || realExit === undefined) return;
    process.exit = realExit;
    realExit = undefined;
  };
}

function exitUnlessHosted(code?: number | string | null): void {
  const server = callingServer();
  if (server !== undefined) throw new ServerExitError(server, code);
  (realExit ?? process.exit)(code);
}

function callingServer(): string | undefined {
  for (const file of callingFiles()) {
    for (const code of guarded) {
      const server = serverOfFile(file, code);
      if (server !== undefined) return server;
    }
  }
  return undefined;
}
