import { existsSync, realpathSync } from "node:fs";
import path from "node:path";
import { DatasetError } from "./errors.ts";

/** A file that is read, and what a message calls it. */
export interface SourceFile {
  file: string;
  description: string;
}

/** Fails where an output would take the place of a file that is read, also by way of a link. */
export function refuseOverwriting(
  sources: readonly SourceFile[],
  outputs: readonly string[],
  { cwd, advice }: { cwd: string; advice: string },
): void {
  const known = new Map(sources.map(({ file, description }) => [realPath(file), description]));
  for (const output of outputs) {
    const description = known.get(realPath(output));
    if (description === undefined) continue;
    throw new DatasetError(
      "DATASET_OUTPUT_OVERWRITES_SOURCE",
      `The output '${path.relative(cwd, output)}' is ${description}. ${advice}`,
    );
  }
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    // A file that does not exist yet: its directory may still be a link.
    const parent = path.dirname(file);
    return existsSync(parent) ? path.join(realpathSync(parent), path.basename(file)) : path.resolve(file);
  }
}
