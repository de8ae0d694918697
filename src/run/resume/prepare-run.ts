import { realpath, rename, rm } from "node:fs/promises";
import { RolloutError } from "../../records/errors.ts";
import {
  type ArtifactPaths,
  compareManifest,
  createManifest,
  digestFile,
  readManifest,
  writeManifest,
} from "../../records/files/door.ts";
import { heldAt, rejectOtherFiles, setAside } from "../earlier-results.ts";
import { materializeInputs } from "../inputs/expand.ts";
import type { RunPlan } from "../run.ts";
import { moveInvalidlyJudged } from "./move-judged.ts";
import { missingForResume, planFresh, planResume, type ResumePlan } from "./resume.ts";

type PrepareOptions = Pick<
  RunPlan,
  | "expand"
  | "limits"
  | "config"
  | "gymVersion"
  | "resume"
  | "force"
  | "retryFailed"
  | "retryTerminalTimeouts"
  | "retryInvalidJudge"
  | "longestFirst"
  | "images"
> & {
  paths: ArtifactPaths;
  onNotice: (text: string) => void;
  signal?: AbortSignal;
};

/** A run that passed all checks. A fresh run does not change files of an earlier run until it begins. */
export interface PreparedRun {
  rollouts: ResumePlan;
  resumed: boolean;
  /** Creates the files of the run and moves existing ones away. Later calls have no effect. */
  begin(): Promise<void>;
  /** Removes the prepared files of a run that has not begun. */
  discard(): Promise<void>;
}

/** Determines the rollouts of a fresh or resumed run, and rejects an invalid one. */
export async function prepareRun(options: PrepareOptions): Promise<PreparedRun> {
  const { paths, onNotice } = options;
  await assertNotOverwriting("its own input", [options.expand.inputPath], paths);
  if (options.resume) {
    const missing = await missingForResume(paths);
    if (missing.length === 0) {
      await rejectOtherRun(options);
      const nothing = async () => undefined;
      const moved = options.retryInvalidJudge ? await moveInvalidlyJudged(paths) : 0;
      if (moved > 0)
        onNotice(`${moved} results with invalid_judge_response are failures now, and run again.`);
      const { maxAttempts } = options.limits;
      const rollouts = await planResume(paths, { ...options, maxAttempts });
      return { rollouts, resumed: true, begin: nothing, discard: nothing };
    }
    if ((await heldAt(paths)) === "run") throw unresumable(paths, missing);
    onNotice(`There is nothing to resume (${missing.join(", ")} not found): starting a new run.`);
  }
  await rejectOtherFiles(paths);
  return prepareFresh(options);
}

async function prepareFresh(options: PrepareOptions): Promise<PreparedRun> {
  const { paths } = options;
  const staged = `${paths.materializedInputs}.next`;
  let begun: Promise<void> | undefined;
  const discard = async () => {
    if (begun === undefined) await rm(staged, { force: true });
  };
  try {
    const inputs = await materializeInputs(options.expand, staged, options.images);
    if (inputs.rows === 0) {
      throw new RolloutError(
        "ROLLOUT_INPUT_EMPTY",
        `There is nothing to run: '${options.expand.inputPath}' has no rows.`,
      );
    }
    const manifest = createManifest({
      createdAt: new Date(),
      gymVersion: options.gymVersion,
      input: await digestFile(options.expand.inputPath),
      materializedInputs: { path: paths.materializedInputs, ...inputs },
      config: options.config,
    });
    // The plan reads its rows from the staged file on demand.
    const places = { materializedInputs: staged };
    const rollouts = planFresh(places, inputs.rows);
    const begin = async () => {
      await makeRoom(paths, options.onNotice);
      await rename(staged, paths.materializedInputs);
      places.materializedInputs = paths.materializedInputs;
      await writeManifest(paths.manifest, manifest);
    };
    return {
      rollouts,
      resumed: false,
      begin: () => {
        begun ??= begin();
        return begun;
      },
      discard,
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Results of an earlier run with this name do not belong to this run. */
async function makeRoom(paths: ArtifactPaths, onNotice: (text: string) => void): Promise<void> {
  if ((await heldAt(paths)) !== "nothing") {
    const previous = await setAside(paths);
    onNotice(
      `'${paths.output}' contains an earlier run; it was moved to '${previous}' (--resume would have continued it).`,
    );
  }
  for (const path of [paths.output, paths.failures, paths.aggregateMetrics, paths.statistics]) {
    await rm(path, { force: true });
  }
}

function unresumable(paths: ArtifactPaths, missing: readonly string[]): RolloutError {
  return new RolloutError(
    "ROLLOUT_RESUME_REFUSED",
    `'${paths.output}' has results, but the remaining rollouts are unknown: ${missing.join(", ")} not found. ` +
      "Put it back, choose another --output, or start a new run without --resume (the old results are then kept next to the new ones).",
  );
}

/** Rejects a run whose output is its input, or another file that does not belong to it, under any path. */
export async function assertNotOverwriting(
  what: string,
  files: readonly string[],
  paths: Partial<ArtifactPaths>,
): Promise<void> {
  const own = new Map<string, string>();
  for (const path of Object.values(paths)) {
    const real = await realpath(path).catch(() => undefined);
    if (real !== undefined) own.set(real, path);
  }
  for (const file of files) {
    const real = await realpath(file).catch(() => undefined);
    const path = real === undefined ? undefined : own.get(real);
    if (path === undefined) continue;
    throw new RolloutError(
      "ROLLOUT_OUTPUT_IS_INPUT",
      `This would overwrite ${what}: '${path}' is '${file}'. Choose another --output.`,
    );
  }
}

async function rejectOtherRun(options: PrepareOptions): Promise<void> {
  const { paths, force, onNotice } = options;
  const manifest = await readManifest(paths.manifest);
  if (!manifest) {
    onNotice(`'${paths.manifest}' is missing: whether this is the same run cannot be checked.`);
    return;
  }
  const input = await digestFile(options.expand.inputPath).catch(() => undefined);
  const differences = compareManifest(manifest, {
    input,
    materializedInputs: await digestFile(paths.materializedInputs),
    config: options.config,
  });
  if (differences.length === 0) return;
  const list = differences.map((difference) => `  - ${difference}`).join("\n");
  if (force) {
    onNotice(
      `Resuming although this is not the same run (--force):\n${list}\n` +
        "The rows are those of the earlier run; settings that create rows (input, limit, repeats, overrides) have no effect.",
    );
    return;
  }
  throw new RolloutError(
    "ROLLOUT_RESUME_REFUSED",
    `'${paths.output}' belongs to another run:\n${list}\nRun with the same settings, choose another --output, or resume anyway with --force.`,
  );
}
