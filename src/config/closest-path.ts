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
  let corrected = "";
  for (const [index, name] of wanted.entries()) {
    const names = namesIn(path.join(root, corrected));
    const isLast = index === wanted.length - 1;
    const renamedAbove = corrected !== wanted.slice(0, index).join("/");
    const next = names.includes(name) ? name : closestName(name, names, isLast && renamedAbove);
    if (next === undefined) return undefined;
    corrected = corrected === "" ? next : `${corrected}/${next}`;
  }
  return corrected;
}

/** Below a corrected directory (`anyOfKind`) the file is often called after the directory, so the first is enough. */
function closestName(name: string, names: readonly string[], anyOfKind: boolean): string | undefined {
  const extension = path.extname(name);
  const stems = names
    .filter((candidate) => path.extname(candidate) === extension)
    .map((candidate) => path.basename(candidate, extension));
  const [close = anyOfKind ? stems[0] : undefined] = getCloseMatches(
    path.basename(name, extension),
    stems,
    1,
  );
  return close === undefined ? undefined : close + extension;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    // A directory that cannot be listed has nothing to suggest.
    return [];
  }
}
