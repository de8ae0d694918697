import { existsSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** A server and the folders its code may be loaded from. */
export interface HostedCode {
  server: string;
  directories: string[];
}

/** Where the code of a server lies: its folder, also behind links, and the compiled twin of a built-in one. */
export function hostedCode(server: string, directory: string, installRoot: string): HostedCode {
  const real = existsSync(directory) ? realpathSync(directory) : directory;
  const inside = relative(existsSync(installRoot) ? realpathSync(installRoot) : installRoot, real);
  const twin = inside.startsWith("..") ? [] : [join(installRoot, "dist", inside)];
  return { server, directories: [...new Set([directory, real, ...twin])] };
}

/** The server a file belongs to; `file` is a path or a file URL. */
export function serverOfFile(file: string, code: readonly HostedCode[]): string | undefined {
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  return code.find(({ directories }) => directories.some((directory) => path.startsWith(directory + sep)))
    ?.server;
}
