import { dirname } from "node:path";
import { RolloutError } from "../rollouts/errors.ts";
import { type ArtifactPaths, makeDirectory } from "../rollouts/files/artifact-paths.ts";
import { belongsToRun, heldAt, otherFileError, setAside } from "../rollouts/files/earlier-results.ts";
import { lockRun } from "../rollouts/files/run-lock.ts";
import type { ShardedRollouts } from "./shards.ts";

/**
 * Merges shards into an output without losing data: an earlier merge is replaced if the new one contains all its
 * rollouts, rollouts of another run are moved away, and an output that is one of the shards or another file is refused.
 */
export async function replaceMerge(
  shards: ShardedRollouts,
  paths: ArtifactPaths,
  options: { matched: boolean; onNotice: (text: string) => void },
): Promise<void> {
  const { output } = paths;
  await makeDirectory(dirname(output));
  // The files of a running run must not be moved.
  const lock = await lockRun(output);
  try {
    await mergeLocked(shards, paths, options);
  } finally {
    lock.release();
  }
}

async function mergeLocked(
  shards: ShardedRollouts,
  paths: ArtifactPaths,
  options: { matched: boolean; onNotice: (text: string) => void },
): Promise<void> {
  const { output } = paths;
  const save = async () => {
    if (options.matched) {
      throw new RolloutError(
        "ROLLOUT_OUTPUT_IS_INPUT",
        `'${output}' is one of the shards: it holds rollouts that the others do not. Choose another --output.`,
      );
    }
    options.onNotice(`'${output}' holds another run; it was moved to '${await setAside(paths)}'.`);
  };
  const held = await heldAt(paths);
  if (held === "other") throw otherFileError(output);
  const ofRun = held === "run" && (await belongsToRun(paths));
  if (ofRun && options.matched) await save();
  await shards.merge(output, { onOthers: save, always: ofRun });
}
