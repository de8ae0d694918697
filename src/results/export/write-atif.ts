import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { RolloutError } from "../../rollouts/errors.ts";
import { agentNameOf } from "../../rollouts/inputs/expand.ts";
import { type AtifContext, atifTrajectory } from "./export-atif.ts";
import type { ExportedRollout } from "./export-records.ts";

/** Refuses an existing path before any work is done. */
async function refuseExisting(directory: string): Promise<void> {
  if (await stat(directory).catch(() => undefined))
    throw new RolloutError("ROLLOUT_OUTPUT_EXISTS", `'${directory}' is already there; name a new directory.`);
}

/**
 * Writes one file per rollout and `manifest.jsonl` with their hashes into a new directory. The directory is created
 * atomically: one rollout that cannot be converted fails the export. Returns the number of trajectories.
 */
export async function writeAtif(
  directory: string,
  rollouts: Iterable<ExportedRollout>,
  context: AtifContext,
): Promise<number> {
  await refuseExisting(directory);
  await mkdir(dirname(directory), { recursive: true });
  const staging = await mkdtemp(join(dirname(directory), `.${basename(directory)}-`));
  try {
    const manifest: string[] = [];
    let agent: string | undefined;
    for (const rollout of rollouts) {
      const { task, candidate, row } = rollout;
      agent ??= agentNameOf(row);
      const text = `${JSON.stringify(converted(rollout, context, agent), null, 2)}\n`;
      const name = `${task.taskIndex}-${candidate.rolloutIndex}.json`;
      await writeFile(join(staging, name), text);
      const entry = {
        _ng_rollout_index: candidate.rolloutIndex,
        _ng_task_index: task.taskIndex,
        expected_sha256: createHash("sha256").update(text).digest("hex"),
        trajectory_path: name,
      };
      manifest.push(`${JSON.stringify(entry)}\n`);
    }
    if (manifest.length === 0) throw new RolloutError("ROLLOUT_EXPORT", "No rollout is left to export.");
    await writeFile(join(staging, "manifest.jsonl"), manifest.join(""));
    await rename(staging, directory);
    return manifest.length;
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
}

function converted(rollout: ExportedRollout, context: AtifContext, agent: string | undefined) {
  const { row, candidate } = rollout;
  try {
    if (agentNameOf(row) !== agent)
      throw new RolloutError("ROLLOUT_EXPORT", `agent_ref.name: another agent than '${agent}'`);
    return atifTrajectory(rollout, context);
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error;
    throw new RolloutError("ROLLOUT_EXPORT", `line ${candidate.line}: ${error.message}`, { cause: error });
  }
}
