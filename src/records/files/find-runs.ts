import { open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { isObject } from "../../base/python/json/door.ts";
import { fileError, RolloutError, RolloutFileError } from "../errors.ts";
import { PACKED_SUFFIX, rolloutsInside } from "../packed/run-file.ts";
import { type ArtifactPaths, artifactPaths } from "./artifact-paths.ts";
import { IMAGE_FOLDER } from "./row-images.ts";

/** The default output name of `gym eval run`. */
const USUAL_NAME = "rollouts.jsonl";
/** Also `example_rollouts.jsonl`, as environments ship them. */
const NAME_OF_ROLLOUTS = /(?:^|[_-])rollouts\.jsonl$/;
/** The record of `gym optimize`, in the directory above its batches. */
export const OPTIMIZATION_NAME = "lineage.jsonl";
const BESIDE_A_RUN =
  /(?:_(?:materialized_inputs|failures|reward_profiling|annotations|labels)|(?:^|_)rollout_verdicts)\.jsonl$/;
/** `results/<agent>/<time>/rollouts.jsonl`, seen from `results`, and one folder more. */
const LEVELS_BELOW = 4;
const MAX_FOLDERS = 20_000;
const MAX_RUNS = 20_000;
const NOT_ENTERED = new Set(["node_modules", "logs", "captures", "preprocessed_datasets", IMAGE_FOLDER]);

/** Fields of exports and inputs. Rows of rollouts may have some of them too, but those have a response. */
const OF_OTHER_ROWS = [
  "message_log",
  "messages",
  "messages_and_choices",
  "prompt",
  "prompt_ids",
  "prompt_token_ids",
  "responses_create_params",
  "token_ids",
];
/** The beginning of a file that is read to tell rollouts from exports. */
const PEEK_BYTES = 4 * 1024 * 1024;

/** The files of a run. */
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

/** The runs in some paths. */
export interface FoundRuns {
  root: string;
  runs: FoundRun[];
  /** Files between the runs that hold rows of another kind, such as exports and inputs. */
  others: string[];
  /** Directories of optimizations. */
  optimizations: string[];
}

/** All runs in the given paths: rollouts files, directories of runs, directories with many runs. */
export async function findRuns(given: readonly string[]): Promise<FoundRuns> {
  const files: string[] = [];
  const others: string[] = [];
  const optimizations: string[] = [];
  for (const name of given) {
    const entry = await stat(name).catch((error: unknown) => {
      throw fileError(error, name, "read");
    });
    if (entry.isDirectory()) files.push(...(await rolloutsBelow(name, others, optimizations)));
    else if (entry.isFile()) files.push(name.endsWith(PACKED_SUFFIX) ? rolloutsInside(name) : name);
    else throw new RolloutFileError("ROLLOUT_FILE_UNREADABLE", name, `'${name}' is not a regular file.`);
  }
  const distinct = [...new Set(files)].slice(0, MAX_RUNS);
  const [first = "."] = given;
  const isOneFolder = given.length === 1 && distinct[0] !== first;
  const root = isOneFolder ? first : commonFolder(distinct);
  return { root, runs: named(distinct, root), others, optimizations };
}

/** The rollouts files in a directory and its subdirectories. */
async function rolloutsBelow(
  directory: string,
  others: string[],
  optimizations: string[],
): Promise<string[]> {
  const found: string[] = [];
  let folders = 0;
  const visit = async (folder: string, levels: number): Promise<void> => {
    if (folders++ >= MAX_FOLDERS || found.length >= MAX_RUNS) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      // Unreadable subdirectories are skipped; the given directory is not.
      if (folder === directory) throw fileError(error, folder, "read");
      return [];
    });
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    if (names.includes(OPTIMIZATION_NAME)) optimizations.push(folder);
    const files = names.filter(
      (name) => name.endsWith(".jsonl") && !BESIDE_A_RUN.test(name) && name !== OPTIMIZATION_NAME,
    );
    const own = files.includes(USUAL_NAME)
      ? [USUAL_NAME]
      : await onlyRuns(folder, files, folder === directory);
    found.push(...own.map((name) => path.join(folder, name)));
    for (const entry of entries)
      if (entry.isFile() && entry.name.endsWith(PACKED_SUFFIX))
        found.push(rolloutsInside(path.join(folder, entry.name)));
    others.push(...files.filter((name) => !own.includes(name)).map((name) => path.join(folder, name)));
    if (levels === 0) return;
    for (const entry of entries)
      if (entry.isDirectory() && !entry.name.startsWith(".") && !NOT_ENTERED.has(entry.name))
        await visit(path.join(folder, entry.name), levels - 1);
  };
  await visit(directory, LEVELS_BELOW);
  if (found.length > 0) return found;
  throw new RolloutError(
    "ROLLOUT_NONE_FOUND",
    `'${directory}' holds no rollouts file (*.jsonl, *.gymrun), nor does a directory in it.`,
  );
}

/** Files that a run wrote, or with a matching name. In the given folder all files count whose rows may be rollouts. */
async function onlyRuns(folder: string, files: readonly string[], isNamed: boolean): Promise<string[]> {
  const runs: string[] = [];
  for (const name of files) {
    const file = path.join(folder, name);
    if (NAME_OF_ROLLOUTS.test(name) || (await hasRunFiles(file)) || (isNamed && (await mayBeRollouts(file))))
      runs.push(name);
  }
  return runs;
}

async function hasRunFiles(file: string): Promise<boolean> {
  const { manifest, statistics, progress, materializedInputs } = artifactPaths(file);
  for (const beside of [manifest, statistics, progress, materializedInputs])
    if ((await stat(beside).catch(() => undefined)) !== undefined) return true;
  return false;
}

/** False if the first row is not that of a rollout. Whatever cannot be read is shown with its error. */
async function mayBeRollouts(file: string): Promise<boolean> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return true;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(PEEK_BYTES), 0, PEEK_BYTES, 0);
    const end = buffer.indexOf("\n");
    const row: unknown = JSON.parse(buffer.toString("utf8", 0, end === -1 ? bytesRead : end));
    if (!isObject(row) || "response" in row) return true;
    return "reward" in row && !OF_OTHER_ROWS.some((field) => field in row);
  } catch {
    return true;
  } finally {
    await handle.close();
  }
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
