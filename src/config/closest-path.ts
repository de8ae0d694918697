import { readdirSync } from "node:fs";
import path from "node:path";
import { getCloseMatches } from "../python/difflib.ts";

/** An existing path that differs from `relative` by one misspelt name, for a hint; undefined when none is close. */
export function closestPath(relative: string, roots: readonly string[]): string | undefined {
  if (path.isAbsolute(relative)) return undefined;
  const wanted = relative.split("/");
  for (const root of roots) {
    const found = correctedPath(root, wanted);
    if (found !== undefined) return found;
  }
  return undefined;
}

function correctedPath(root: string, wanted: readonly string[]): string | undefined {
  const corrected: string[] = [];
  let changed = false;
  for (const [index, name] of wanted.entries()) {
    const names: string[] = namesIn(path.join(root, ...corrected));
    const isLast = index === wanted.length - 1;
    const [close] = names.includes(name) ? [name] : getCloseMatches(name, names, 1);
    // Below a corrected directory the file may be called after the directory.
    const sibling: string | undefined =
      isLast && changed ? names.find((candidate) => candidate.endsWith(path.extname(name))) : undefined;
    const next: string | undefined = close ?? sibling;
    if (next === undefined) return undefined;
    changed ||= next !== name;
    corrected.push(next);
  }
  return changed ? corrected.join("/") : undefined;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // A directory that cannot be listed has nothing to suggest.
    return [];
  }
}
