import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { artifactPaths } from "../rollouts/artifact-paths.ts";
import { fileError } from "../rollouts/errors.ts";
import { ViewerError } from "./errors.ts";

/** The name `gym eval run` gives its output unless told. */
const USUAL_NAME = "rollouts.jsonl";
const BESIDE_A_RUN = /_(materialized_inputs|failures|reward_profiling)\.jsonl$/;
const MAX_NAMED = 10;

/** The files of a run that the viewer reads. */
export interface RunFiles {
  rollouts: string;
  failures: string;
  manifest: string;
  aggregateMetrics: string;
  statistics: string;
}

/** Finds the files of a run by its rollouts file or the directory the run wrote to. */
export async function findRunFiles(given: string): Promise<RunFiles> {
  const entry = await stat(given).catch((error: unknown) => {
    throw fileError(error, given, "read");
  });
  const rollouts = entry.isDirectory() ? await rolloutsIn(given) : given;
  const { failures, manifest, aggregateMetrics, statistics } = artifactPaths(rollouts);
  return { rollouts, failures, manifest, aggregateMetrics, statistics };
}

async function rolloutsIn(directory: string): Promise<string> {
  const names = (await readdir(directory)).filter(
    (name) => name.endsWith(".jsonl") && !BESIDE_A_RUN.test(name),
  );
  const [only] = names.includes(USUAL_NAME) ? [USUAL_NAME] : names;
  if (only !== undefined && (only === USUAL_NAME || names.length === 1)) return path.join(directory, only);
  const found = names.sort().slice(0, MAX_NAMED).join(", ");
  throw new ViewerError(
    "VIEWER_NO_ROLLOUTS",
    names.length === 0
      ? `'${directory}' holds no rollouts file (*.jsonl).`
      : `'${directory}' holds several files; name one of: ${found}${names.length > MAX_NAMED ? ", …" : ""}.`,
  );
}
