import { existsSync } from "node:fs";
import path from "node:path";
import { ConfigPathNotFoundError } from "./errors.ts";
import type { DictNode } from "./node.ts";
import { candidatePaths } from "./paths.ts";
import { readConfigFile } from "./read-config-file.ts";

/** The user's own settings: exactly one file, that of the first root which has one. */
export function loadEnvYaml(
  roots: readonly string[],
  cwd: string,
  explicit: string | undefined,
): DictNode | undefined {
  if (explicit !== undefined) {
    const file = path.resolve(cwd, explicit);
    if (!existsSync(file)) throw new ConfigPathNotFoundError(`env.yaml was not found at '${file}'.`);
    return readConfigFile(file, "env.yaml");
  }
  const file = candidatePaths("env.yaml", roots).find((candidate) => existsSync(candidate));
  return file === undefined ? undefined : readConfigFile(file, "env.yaml");
}
