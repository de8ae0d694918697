import path from "node:path";

/** The path of a file beside `file`, named after it: without its extension, with `ending`. A last dot begins no extension. */
export function besidePath(file: string, ending: string): string {
  const name = path.basename(file);
  const dot = name.lastIndexOf(".");
  const stem = dot > 0 && dot < name.length - 1 ? name.slice(0, dot) : name;
  return path.join(path.dirname(file), `${stem}${ending}`);
}
