import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { fileError } from "../rollouts/errors.ts";
import { artifactPaths } from "../rollouts/files/artifact-paths.ts";
import { ViewerError } from "./errors.ts";

/** The name `gym eval run` gives its output unless told. */
const USUAL_NAME = "rollouts.jsonl";
const BESIDE_A_RUN = /(?:_(?:materialized_inputs|failures|reward_profiling)|^rollout_verdicts)\.jsonl$/;
const MAX_NAMED = 10;
/** `results/<agent>/<time>/rollouts.jsonl`, seen from `results`. */
const LEVELS_BELOW = 2;
const MAX_FOLDERS = 1_000;

/** The files of a run that the viewer reads. */
export interface RunFiles {
  rollouts: string;
  failures: string;
  manifest: string;
  aggregateMetrics: string;
  statistics: string;
}

/** Finds the files of a run by its rollouts file, the directory the run wrote to, or one above it: then the newest run counts. */
export async function findRunFiles(given: string): Promise<RunFiles> {
  const entry = await stat(given).catch((error: unknown) => {
    throw fileError(error, given, "read");
  });
  const rollouts = entry.isDirectory() ? await rolloutsIn(given) : given;
  const { failures, manifest, aggregateMetrics, statistics } = artifactPaths(rollouts);
  return { rollouts, failures, manifest, aggregateMetrics, statistics };
}

/** The rollouts that were written last in the directories below, where `gym eval run` puts them unless told. */
async function newestBelow(
  directory: string,
  levels: number,
): Promise<{ file: string; writtenAt: number } | undefined> {
  let newest: { file: string; writtenAt: number } | undefined;
  const folders = (await readdir(directory, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .slice(0, MAX_FOLDERS);
  for (const { name } of folders) {
    const folder = path.join(directory, name);
    const file = path.join(folder, USUAL_NAME);
    const own = await stat(file).catch(() => undefined);
    const found = own?.isFile()
      ? { file, writtenAt: own.mtimeMs }
      : levels > 1
        ? await newestBelow(folder, levels - 1)
        : undefined;
    if (found && found.writtenAt > (newest?.writtenAt ?? 0)) newest = found;
  }
  return newest;
}

async function rolloutsIn(directory: string): Promise<string> {
  const names = (await readdir(directory)).filter(
    (name) => name.endsWith(".jsonl") && !BESIDE_A_RUN.test(name),
  );
  const [only] = names.includes(USUAL_NAME) ? [USUAL_NAME] : names;
  if (only !== undefined && (only === USUAL_NAME || names.length === 1)) return path.join(directory, only);
  const newest = names.length === 0 ? await newestBelow(directory, LEVELS_BELOW) : undefined;
  if (newest !== undefined) return newest.file;
  const found = names.sort().slice(0, MAX_NAMED).join(", ");
  throw new ViewerError(
    "VIEWER_NO_ROLLOUTS",
    names.length === 0
      ? `'${directory}' holds no rollouts file (*.jsonl), nor does a directory in it.`
      : `'${directory}' holds several files; name one of: ${found}${names.length > MAX_NAMED ? ", …" : ""}.`,
  );
}
