import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { byCodePoint } from "../../base/python/door.ts";
import { RolloutError } from "../../records/errors.ts";

const MAX_FILES = 10_000;
const MAX_BYTES = 256 * 1024 * 1024;
const HASH_DIGITS = 12;

/** The value of `skills_ref` in every row of a run with skills. */
export interface SkillsReference {
  path: string;
  /** First 12 hex digits of the SHA-256 over all files. */
  hash: string;
  skills: { name: string; description: unknown; version: unknown }[];
}

/** Reads a directory of skill directories, each with a `SKILL.md`; rows contain `configuredPath`. */
export async function loadSkills(
  directory: string,
  configuredPath: string = directory,
): Promise<SkillsReference> {
  const files = await filesBelow(directory);
  const hash = createHash("sha256");
  const skills: SkillsReference["skills"] = [];
  let bytes = 0;
  for (const file of files) {
    const content = await readFile(join(directory, ...file)).catch((error: unknown) => {
      throw unusable(directory, `'${file.join("/")}' cannot be read: ${errorMessage(error)}`, error);
    });
    bytes += content.length;
    if (bytes > MAX_BYTES) throw unusable(directory, `it holds more than ${MAX_BYTES / (1024 * 1024)} MB`);
    hash.update(file.join("/")).update("\0").update(content).update("\0");
    if (file.length === 2 && file[1] === "SKILL.md")
      skills.push(await readSkill(directory, file.join("/"), content.toString("utf8")));
  }
  if (skills.length === 0) throw unusable(directory, "no directory in it has a SKILL.md");
  return { path: configuredPath, hash: hash.digest("hex").slice(0, HASH_DIGITS), skills };
}

/** All files below a directory as lists of path segments, in the order of those lists. */
async function filesBelow(root: string): Promise<string[][]> {
  const files: string[][] = [];
  const visit = async (segments: string[]): Promise<void> => {
    const entries = await readdir(join(root, ...segments), { withFileTypes: true }).catch(
      (error: unknown): Dirent[] => {
        throw unusable(root, errorMessage(error), error);
      },
    );
    for (const entry of entries.sort((left, right) => byCodePoint(left.name, right.name))) {
      if (entry.isDirectory()) await visit([...segments, entry.name]);
      else if (entry.isFile()) files.push([...segments, entry.name]);
      if (files.length > MAX_FILES) throw unusable(root, `it holds more than ${MAX_FILES} files`);
    }
  };
  await visit([]);
  return files;
}

async function readSkill(
  directory: string,
  file: string,
  text: string,
): Promise<SkillsReference["skills"][number]> {
  const match = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (match === null)
    throw unusable(directory, `'${file}' does not begin with YAML front matter between '---' lines`);
  // Loaded lazily, because few runs have skills.
  const { parseYamlText } = await import("../../config/yaml/door.ts");
  let front: unknown;
  try {
    front = parseYamlText(match[1] ?? "", file);
  } catch (error) {
    throw unusable(directory, `the front matter of '${file}' is not YAML: ${errorMessage(error)}`, error);
  }
  const { name, description, metadata } = (front ?? {}) as Record<string, unknown>;
  if (typeof name !== "string" || name === "") throw unusable(directory, `'${file}' has no 'name'`);
  const version =
    typeof metadata === "object" && metadata !== null
      ? (metadata as Record<string, unknown>)["version"]
      : null;
  return { name, description: description ?? null, version: version ?? null };
}

function unusable(directory: string, problem: string, cause?: unknown): RolloutError {
  return new RolloutError(
    "ROLLOUT_SKILLS",
    `The skills directory '${directory}' cannot be used: ${problem}.`,
    { cause },
  );
}
