import { existsSync } from "node:fs";
import path from "node:path";
import type { CommandContext } from "../command.ts";
import { runChild } from "../run-child.ts";
import { type PackageFormat, printHeader } from "./packages.ts";
import type { ServerFolder } from "./server-folder.ts";

/** What the virtual environment of a Python server holds, as pip lists it. */
export async function listPythonPackages(
  context: CommandContext,
  server: ServerFolder,
  { format, outdated }: { format?: PackageFormat; outdated: boolean },
): Promise<number> {
  const environment = path.join(server.directory, ".venv");
  const python = path.join(environment, "bin", "python");
  if (!existsSync(python)) {
    context.out(`  Virtual environment not found at: ${environment}`);
    context.out("  Run tests or set the server up first:");
    context.out(`  gym env test +entrypoint=${server.entrypoint}`);
    return 1;
  }
  if (format === undefined) printHeader(context, server, environment);
  const words = ["-m", "pip", "list", ...(format === undefined ? [] : [`--format=${format}`])];
  return runChild(context, [python, ...words, ...(outdated ? ["--outdated"] : [])], {
    cwd: server.directory,
  });
}
