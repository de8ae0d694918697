import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { artifactPaths } from "./artifact-paths.ts";

/** Names of the reports, as in the Python original. */
export const VERDICTS_FILE = "rollout_verdicts.jsonl";
export const SUMMARY_FILE = "quality_summary.json";
/** The output that always uses these report names. */
const USUAL_OUTPUT = "rollouts.jsonl";
const RUN_FILE = /_(?:manifest\.json|materialized_inputs\.jsonl)$/;

/**
 * Paths of the health reports of a run. Their names are derived from the output if the directory holds a report and
 * another run, because the report may belong to that run.
 */
export async function healthReports(
  output: string,
  directory = dirname(output),
): Promise<{ verdicts: string; summary: string }> {
  const named = artifactPaths(join(directory, basename(output)));
  const names = await readdir(directory).catch((): string[] => []);
  const own = [named.manifest, named.materializedInputs].map((file) => basename(file));
  const isShared =
    basename(output) !== USUAL_OUTPUT &&
    (names.includes(SUMMARY_FILE) || names.includes(VERDICTS_FILE)) &&
    names.some((name) => RUN_FILE.test(name) && !own.includes(name));
  return isShared
    ? { verdicts: named.rolloutVerdicts, summary: named.qualitySummary }
    : { verdicts: join(directory, VERDICTS_FILE), summary: join(directory, SUMMARY_FILE) };
}
