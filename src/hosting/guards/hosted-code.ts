import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

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

const CORE = fileURLToPath(new URL("../..", import.meta.url));
const FRAME = /^\s+at (?:.*\()?(?:async )?(.+?)(?::\d+)*\)?$/;

/** Files of the functions on the stack, innermost first. */
export function callingFiles(): string[] {
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
