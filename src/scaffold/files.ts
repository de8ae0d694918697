import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { makeDirectory } from "../config/make-directory.ts";
import { ScaffoldError } from "./errors.ts";

/** Files of a scaffold: path relative to the working directory, and content. */
export type ScaffoldFiles = Readonly<Record<string, string>>;

export interface WrittenFiles {
  readonly created: readonly string[];
  /** Those that were there already, word for word. */
  readonly kept: readonly string[];
}

/** Creates the files that are missing. One that exists with other content stops everything before anything is written. */
export async function writeMissingFiles(root: string, files: ScaffoldFiles): Promise<WrittenFiles> {
  const paths = Object.keys(files);
  const kept = paths.filter((file) => existsSync(path.join(root, file)));
  const different = kept.filter((file) => readFileSync(path.join(root, file), "utf8") !== files[file]);
  if (different.length > 0) {
    throw new ScaffoldError(
      `These files exist and differ from what would be created:\n${different.map((file) => `  - ${file}`).join("\n")}\n` +
        "Nothing was written.",
    );
  }
  const created = paths.filter((file) => !kept.includes(file));
  for (const file of created) {
    const target = path.join(root, file);
    await makeDirectory(path.dirname(target));
    // `wx`: whatever appeared since the check is not overwritten either.
    await writeFile(target, files[file] ?? "", { flag: "wx" });
  }
  return { created, kept };
}
