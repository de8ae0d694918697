import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { GymError } from "../errors.ts";
import { byCodePoint } from "../python/code-points.ts";

/** Maximum matches of a pattern. */
const MAX_MATCHES = 100_000;

/**
 * The sorted paths that match a shell pattern: `*`, `?` and `[…]` match within one segment, and `**` is like `*`. Names that start
 * with a dot only match patterns that start with a dot. Relative patterns start at `directory` and return relative paths.
 */
export async function shellGlob(pattern: string, directory: string): Promise<string[]> {
  let matches = [isAbsolute(pattern) ? "/" : ""];
  for (const segment of pattern.split("/").filter((part) => part !== "")) {
    const next: string[] = [];
    for (const base of matches) next.push(...(await matchesIn(base, segment, directory)));
    if (next.length > MAX_MATCHES)
      throw new GymError("GLOB_TOO_WIDE", `The pattern '${pattern}' matches more than ${MAX_MATCHES} paths.`);
    matches = next;
  }
  return matches.filter((path) => path !== "" && path !== "/").sort(byCodePoint);
}

async function matchesIn(base: string, segment: string, directory: string): Promise<string[]> {
  const at = isAbsolute(base) ? base : join(directory, base);
  if (!/[*?[]/.test(segment)) {
    const there = await stat(join(at, segment)).catch(() => undefined);
    return there ? [beside(base, segment)] : [];
  }
  const matcher = globPattern(segment);
  const names = await readdir(at).catch((): string[] => []);
  return names
    .filter((name) => (!name.startsWith(".") || segment.startsWith(".")) && matcher.test(name))
    .map((name) => beside(base, name));
}

function beside(base: string, name: string): string {
  if (base === "" || base.endsWith("/")) return base + name;
  return `${base}/${name}`;
}

/**
 * Converts a glob for paths with slashes to a regular expression: `*`, `?`, `[…]` and `**`, with `braces` also `{a,b}`.
 * As in Python's fnmatch, a `[` without `]` is a normal character.
 */
export function globPattern(glob: string, options: { braces?: boolean } = {}): RegExp {
  let source = "";
  let open = 0;
  for (let index = 0; index < glob.length; index++) {
    const character = glob.charAt(index);
    if (character === "*" && glob[index + 1] === "*") {
      const slash = glob[index + 2] === "/";
      source += slash ? "(?:.*/)?" : ".*";
      index += slash ? 2 : 1;
    } else if (character === "*") source += "[^/]*";
    else if (character === "?") source += "[^/]";
    else if (character === "[") {
      const close = glob.indexOf("]", glob.charAt(index + 1) === "!" ? index + 3 : index + 2);
      source += close === -1 ? "\\[" : characterClass(glob.slice(index + 1, close));
      if (close !== -1) index = close;
    } else if (options.braces && character === "{") {
      open++;
      source += "(?:";
    } else if (open > 0 && character === "}") {
      open--;
      source += ")";
    } else if (open > 0 && character === ",") source += "|";
    else source += character.replace(/[.+^$()|\\{}[\]]/, "\\$&");
  }
  return new RegExp(`^${source}${")".repeat(open)}$`, "su");
}

function characterClass(content: string): string {
  const negated = content.startsWith("!");
  const members = (negated ? content.slice(1) : content).replace(/[\\\]^[]/g, "\\$&");
  return `[${negated ? "^" : ""}${members}]`;
}
