import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Finds files the way `config_paths` are found: the first root that has it, else the place under the first root. */
export function fileFinder(roots: readonly string[]): (path: string) => string {
  return (path) => {
    if (isAbsolute(path)) return path;
    for (const root of roots) {
      const candidate = join(root, path);
      if (existsSync(candidate)) return candidate;
    }
    return join(roots[0] ?? ".", path);
  };
}
