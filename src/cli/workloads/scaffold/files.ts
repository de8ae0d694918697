import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { makeDirectory } from "../../../base/files/door.ts";
import { ScaffoldError } from "../errors.ts";

/** Files of a scaffold: the path relative to the working directory, and the content. */
export type ScaffoldFiles = Readonly<Record<string, string>>;

export interface WrittenFiles {
  readonly created: readonly string[];
  /** Files that existed with the same content. */
  readonly kept: readonly string[];
}

/** Creates the missing files. Fails before anything is written if a file exists with other content. */
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
    try {
      await makeDirectory(path.dirname(target));
      // `wx` does not overwrite a file that was created after the check.
      await writeFile(target, files[file] ?? "", { flag: "wx" });
    } catch (error) {
      throw unwritable(error, root, file);
    }
  }
  return { created, kept };
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "your quota is used up",
  ENOTDIR: "something on the way to it is a file, not a folder",
  EEXIST: "something else appeared there",
  ENAMETOOLONG: "its name is too long",
};

function unwritable(error: unknown, root: string, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : REASONS[code];
  if (reason === undefined) return error;
  return new ScaffoldError(`${file} cannot be created in ${root}: ${reason} (${code}).`);
}

const NAME = /^[a-z][a-z0-9_]*$/;
const MAX_LENGTH = 64;

/** Rejects names that are not module names. Names become folders, YAML keys, routes and parts of identifiers. */
export function checkName(name: string): string {
  if (NAME.test(name) && name.length <= MAX_LENGTH) return name;
  if (NAME.test(name)) {
    throw new ScaffoldError(
      `'${name.slice(0, MAX_LENGTH)}…' cannot be the name of a component: it has ${name.length} characters, but at most ${MAX_LENGTH} are allowed.`,
    );
  }
  throw new ScaffoldError(
    `'${name}' cannot be the name of a component: use lower-case letters, digits and '_', beginning with a letter` +
      `${suggestion(name)}.`,
  );
}

function suggestion(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const candidate = words
    .join("_")
    .replace(/^[0-9_]+/, "")
    .slice(0, MAX_LENGTH);
  return NAME.test(candidate) ? `, such as '${candidate}'` : "";
}
