import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { fileError, RolloutFileError } from "../../records/errors.ts";
import { type ArtifactPaths, artifactPaths } from "../../records/files/artifact-paths.ts";
import { ViewerError } from "../errors.ts";

/** The default output name of `gym eval run`. */
const USUAL_NAME = "rollouts.jsonl";
/** Also `example_rollouts.jsonl`, as environments ship them. */
const NAME_OF_ROLLOUTS = /(?:^|[_-])rollouts\.jsonl$/;
const BESIDE_A_RUN =
  /(?:_(?:materialized_inputs|failures|reward_profiling|annotations)|(?:^|_)rollout_verdicts)\.jsonl$/;
/** `results/<agent>/<time>/rollouts.jsonl`, seen from `results`, and one folder more. */
const LEVELS_BELOW = 4;
const MAX_FOLDERS = 20_000;
const MAX_RUNS = 20_000;
const NOT_ENTERED = new Set(["node_modules", "logs", "captures", "preprocessed_datasets"]);

/** The files of a run that the viewer reads. */
export interface RunFiles extends ArtifactPaths {
  rollouts: string;
  logs: string;
  /** Exists while a collection writes the run. */
  lock: string;
}

/** A run that was found; its id is its path relative to the root. */
export interface FoundRun {
  id: string;
  rollouts: string;
}

export function filesOf(rollouts: string): RunFiles {
  const logs = path.join(path.dirname(rollouts), "logs");
  return { ...artifactPaths(rollouts), rollouts, logs, lock: `${rollouts}.lock` };
}

/** All runs in the given paths: rollouts files, directories of runs, directories with many runs. */
export async function findRuns(given: readonly string[]): Promise<{ root: string; runs: FoundRun[] }> {
  const files: string[] = [];
  for (const name of given) {
    const entry = await stat(name).catch((error: unknown) => {
      throw fileError(error, name, "read");
    });
    if (entry.isDirectory()) files.push(...(await rolloutsBelow(name)));
    else if (entry.isFile()) files.push(name);
    else throw new RolloutFileError("ROLLOUT_FILE_UNREADABLE", name, `'${name}' is not a regular file.`);
  }
  const distinct = [...new Set(files)].slice(0, MAX_RUNS);
  const [first = "."] = given;
  const isOneFolder = given.length === 1 && distinct[0] !== first;
  const root = isOneFolder ? first : commonFolder(distinct);
  return { root, runs: named(distinct, root) };
}

/** The rollouts files in a directory and its subdirectories. */
async function rolloutsBelow(directory: string): Promise<string[]> {
  const found: string[] = [];
  let folders = 0;
  const visit = async (folder: string, levels: number): Promise<void> => {
    if (folders++ >= MAX_FOLDERS || found.length >= MAX_RUNS) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      // Unreadable subdirectories are skipped; the given directory is not.
      if (folder === directory) throw fileError(error, folder, "read");
      return [];
    });
    const files = entries
      .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl") && !BESIDE_A_RUN.test(entry.name))
      .map((entry) => entry.name);
    const own = files.includes(USUAL_NAME)
      ? [USUAL_NAME]
      : await onlyRuns(folder, files, folder === directory);
    found.push(...own.map((name) => path.join(folder, name)));
    if (levels === 0) return;
    for (const entry of entries)
      if (entry.isDirectory() && !entry.name.startsWith(".") && !NOT_ENTERED.has(entry.name))
        await visit(path.join(folder, entry.name), levels - 1);
  };
  await visit(directory, LEVELS_BELOW);
  if (found.length > 0) return found;
  throw new ViewerError(
    "VIEWER_NO_ROLLOUTS",
    `'${directory}' holds no rollouts file (*.jsonl), nor does a directory in it.`,
  );
}

/** In the given folder every file counts; in subdirectories only files that a run wrote, or with a matching name. */
async function onlyRuns(folder: string, files: readonly string[], isNamed: boolean): Promise<string[]> {
  if (isNamed) return [...files];
  const runs: string[] = [];
  for (const name of files) {
    if (NAME_OF_ROLLOUTS.test(name)) {
      runs.push(name);
      continue;
    }
    const { manifest, statistics, progress, materializedInputs } = artifactPaths(path.join(folder, name));
    for (const beside of [manifest, statistics, progress, materializedInputs]) {
      if ((await stat(beside).catch(() => undefined)) === undefined) continue;
      runs.push(name);
      break;
    }
  }
  return runs;
}

function commonFolder(files: readonly string[]): string {
  let common = path.dirname(files[0] ?? ".");
  for (const file of files)
    while (
      common !== path.dirname(common) &&
      !`${file}`.startsWith(common === "/" ? "/" : `${common}${path.sep}`)
    )
      common = path.dirname(common);
  return common;
}

/** `blackjack/2026-01-31` for `blackjack/2026-01-31/rollouts.jsonl`, `mine` for `mine.jsonl`. */
function named(files: readonly string[], root: string): FoundRun[] {
  return files.map((rollouts) => {
    const relative = path.relative(root, rollouts).split(path.sep).join("/");
    const short = relative.endsWith(`/${USUAL_NAME}`)
      ? relative.slice(0, -USUAL_NAME.length - 1)
      : relative.replace(/\.jsonl$/, "");
    const isAlone = relative === USUAL_NAME;
    return { id: isAlone ? path.basename(path.dirname(rollouts)) : short, rollouts };
  });
}
