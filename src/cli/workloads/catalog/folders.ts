import { readdirSync, statSync } from "node:fs";
import path from "node:path";

/** Maximum depth below `benchmarks/` and `environments/`. */
const MAX_DEPTH = 6;

/** The sorted names of the folders in a folder, including links. Empty if the folder does not exist. */
export function subfolders(folder: string): string[] {
  return entriesOf(folder)
    .filter(
      (entry) =>
        entry.isDirectory() || (entry.isSymbolicLink() && isDirectory(path.join(folder, entry.name))),
    )
    .map(({ name }) => name);
}

/** The names of the YAML files directly in a folder, sorted. */
export function yamlFiles(folder: string): string[] {
  return entriesOf(folder)
    .filter((entry) => entry.name.endsWith(".yaml") && !entry.isDirectory())
    .map(({ name }) => name);
}

/** The YAML files below a folder as relative paths with `/`, sorted. */
export function yamlFilesBelow(folder: string, inside = "", depth = 0): string[] {
  return entriesOf(path.join(folder, inside)).flatMap((entry) => {
    const relative = inside === "" ? entry.name : `${inside}/${entry.name}`;
    if (!entry.isDirectory()) return entry.name.endsWith(".yaml") ? [relative] : [];
    const hidden = entry.name === "node_modules" || entry.name.startsWith(".");
    return hidden || depth >= MAX_DEPTH ? [] : yamlFilesBelow(folder, relative, depth + 1);
  });
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // A folder that does not exist or cannot be listed has no components.
    return [];
  }
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}
