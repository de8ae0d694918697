import { readdir, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { makeDirectory as make } from "../../base/files/door.ts";
import { fileError, notRegularError, RolloutError, RolloutFileError } from "../errors.ts";

/** The files of a run, all next to its output. */
export interface ArtifactPaths {
  output: string;
  materializedInputs: string;
  failures: string;
  aggregateMetrics: string;
  rewardProfiling: string;
  agentMetrics: string;
  manifest: string;
  statistics: string;
  progress: string;
  /** Resources of the run: CPU, memory, time per rollout. */
  resources: string;
  /** Results of workers that arrived after the rollout had one. */
  lateResults: string;
  /** Health reports under names derived from the output, for when another run has the default names. */
  rolloutVerdicts: string;
  qualitySummary: string;
}

/** Paths of the files of the run with this output. */
export function artifactPaths(output: string): ArtifactPaths {
  return {
    output,
    materializedInputs: sidecarPath(output, "_materialized_inputs", ".jsonl"),
    failures: sidecarPath(output, "_failures", ".jsonl"),
    aggregateMetrics: sidecarPath(output, "_aggregate_metrics", ".json"),
    rewardProfiling: sidecarPath(output, "_reward_profiling", ".jsonl"),
    agentMetrics: sidecarPath(output, "_agent_metrics", ".json"),
    manifest: sidecarPath(output, "_manifest", ".json"),
    statistics: sidecarPath(output, "_statistics", ".json"),
    progress: sidecarPath(output, "_progress", ".json"),
    resources: sidecarPath(output, "_resources", ".json"),
    lateResults: sidecarPath(output, "_late_results", ".jsonl"),
    rolloutVerdicts: sidecarPath(output, "_rollout_verdicts", ".jsonl"),
    qualitySummary: sidecarPath(output, "_quality_summary", ".json"),
  };
}

/** `res/run.v2.json` with `_failures` and `.jsonl` gives `res/run.v2_failures.jsonl`: the last suffix is replaced. */
export function sidecarPath(output: string, marker: string, suffix: string): string {
  const name = basename(output);
  return join(dirname(output), `${name.slice(0, name.length - extname(name).length)}${marker}${suffix}`);
}

/** Names of the reports, as in the Python original. */
export const VERDICTS_FILE = "rollout_verdicts.jsonl";
const SUMMARY_FILE = "quality_summary.json";
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

/** Names of open streams. They may resolve to a regular file, but other files must not be created next to it. */
const STREAM = /^\/(dev\/(stdin|stdout|stderr|fd\/.*)|proc\/self\/fd\/.*)$/;

/** An output must be a file in a directory: not a directory, a device, a pipe or a socket. */
export async function assertRegularFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory())
    throw new RolloutError(
      "ROLLOUT_FILE_IS_DIRECTORY",
      `'${path}' is a directory; --output must name a file.`,
    );
  if (STREAM.test(path) || (found && !found.isFile())) throw notRegularError(path);
  if (!found) await rejectInsideFile(path);
}

async function rejectInsideFile(path: string): Promise<void> {
  for (let place = dirname(path); ; place = dirname(place)) {
    const found = await stat(place).catch(() => undefined);
    if (found?.isDirectory() || place === dirname(place)) return;
    if (found) {
      throw new RolloutFileError(
        "ROLLOUT_FILE_NOT_WRITABLE",
        path,
        `'${path}' cannot be created: '${place}' is a file, not a directory.`,
      );
    }
  }
}

/** Creates a directory and its parents; the error names what cannot be written. */
export async function makeOutputDirectory(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    const { code, path: taken } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && taken !== undefined) {
      const inside = taken === path ? "" : ` for '${path}'`;
      throw new RolloutFileError(
        "ROLLOUT_FILE_NOT_WRITABLE",
        path,
        `'${taken}' is a file; a directory is needed there${inside}.`,
        { cause: error },
      );
    }
    throw fileError(error, path, "write");
  }
}
