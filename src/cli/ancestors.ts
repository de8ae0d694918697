import path from "node:path";

/** The folder and all its parents, up to the root. */
export function ancestors(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}
