import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { byCodePoint } from "../python/code-points.ts";
import { RolloutError } from "../rollouts/errors.ts";

/** Matches of one pattern beyond which it is taken for a mistake. */
const MAX_MATCHES = 100_000;

/**
 * The paths that a shell-style pattern matches, sorted: `*`, `?` and `[…]` within one segment, `**` like `*`. Names that begin with a
 * dot need a pattern that does. Relative patterns start at `directory` and give relative paths.
 */
export async function shellGlob(pattern: string, directory: string): Promise<string[]> {
  let matches = [isAbsolute(pattern) ? "/" : ""];
  for (const segment of pattern.split("/").filter((part) => part !== "")) {
    const next: string[] = [];
    for (const base of matches) next.push(...(await matchesIn(base, segment, directory)));
    if (next.length > MAX_MATCHES) throw tooMany(pattern);
    matches = next;
  }
  return matches.filter((path) => path !== "" && path !== "/").sort(byCodePoint);
}

function tooMany(pattern: string): RolloutError {
  return new RolloutError(
    "ROLLOUT_FILE_UNREADABLE",
    `The pattern '${pattern}' matches more than ${MAX_MATCHES} paths.`,
  );
}

async function matchesIn(base: string, segment: string, directory: string): Promise<string[]> {
  const at = isAbsolute(base) ? base : join(directory, base);
  if (!/[*?[]/.test(segment)) {
    const there = await stat(join(at, segment)).catch(() => undefined);
    return there ? [beside(base, segment)] : [];
  }
  const matcher = segmentMatcher(segment);
  const names = await readdir(at).catch((): string[] => []);
  return names
    .filter((name) => (!name.startsWith(".") || segment.startsWith(".")) && matcher.test(name))
    .map((name) => beside(base, name));
}

function beside(base: string, name: string): string {
  if (base === "" || base.endsWith("/")) return base + name;
  return `${base}/${name}`;
}

/** As Python's fnmatch: a `[` without its `]` is an ordinary character. */
function segmentMatcher(segment: string): RegExp {
  let source = "";
  for (let index = 0; index < segment.length; index++) {
    const character = segment.charAt(index);
    if (character === "*") source += ".*";
    else if (character === "?") source += ".";
    else if (character === "[") {
      const close = segment.indexOf("]", segment.charAt(index + 1) === "!" ? index + 3 : index + 2);
      if (close === -1) source += "\\[";
      else {
        source += characterClass(segment.slice(index + 1, close));
        index = close;
      }
    } else source += character.replace(/[\\^$.|+(){}\]]/, "\\$&");
  }
  return new RegExp(`^${source}$`, "su");
}

function characterClass(content: string): string {
  const negated = content.startsWith("!");
  const members = (negated ? content.slice(1) : content).replace(/[\\\]^[]/g, "\\$&");
  return `[${negated ? "^" : ""}${members}]`;
}
