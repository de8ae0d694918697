import path from "node:path";

/** The text of each file by its name, relative to the output folder. */
export type Files = ReadonlyMap<string, string>;

const SKIPPED =
  /(?:^|\/)(?:node_modules|\.npm|__pycache__|\.git|\.?venv)\/|\.(?:lock|map)$|(?:^|\/)package-lock\.json$/;

/** The files that count as output, without those that tools leave behind. */
export function outputFiles(files: Files): Files {
  return new Map([...files].filter(([name]) => !SKIPPED.test(name)));
}

/**
 * The file of each name, since models name files a little differently: the same path, else the only unused file with the
 * same ending, else the one that shares most words. Names without a file are left out.
 */
export function matchFiles(names: readonly string[], available: readonly string[]): Map<string, string> {
  const found = new Map(names.filter((name) => available.includes(name)).map((name) => [name, name]));
  for (const name of names) {
    if (found.has(name)) continue;
    const used = new Set(found.values());
    const ending = path.extname(name).toLowerCase();
    const candidates = available.filter(
      (file) =>
        !used.has(file) &&
        path.extname(file).toLowerCase() === ending &&
        stemOf(file).toLowerCase() !== "output",
    );
    const [first, ...others] = candidates;
    const match = others.length === 0 ? first : mostWordsInCommon(name, candidates);
    if (match !== undefined) found.set(name, match);
  }
  return found;
}

function mostWordsInCommon(name: string, files: readonly string[]): string | undefined {
  const wanted = wordsOf(name);
  let best: string | undefined;
  let most = 0;
  for (const file of files) {
    const common = [...wordsOf(file)].filter((word) => wanted.has(word)).length;
    if (common > most) [best, most] = [file, common];
  }
  return best;
}

const stemOf = (file: string): string => path.basename(file, path.extname(file));
const wordsOf = (file: string): Set<string> =>
  new Set(stemOf(file).toLowerCase().replaceAll(/[-_]/g, " ").split(/\s+/).filter(Boolean));
