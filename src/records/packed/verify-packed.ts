import { createHash } from "node:crypto";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Coverage } from "../metrics/coverage.ts";
import { clusteredMean, type Estimate } from "../metrics/intervals.ts";
import { readRunTasks } from "../results/run-tasks.ts";
import { damaged, HEAD, PackedRun } from "./packed-run.ts";
import { rolloutsInside } from "./run-file.ts";

export interface VerifiedPack {
  path: string;
  bytes: number;
  digest: string;
  gym_version: string;
  packed_at: string;
  files: { name: string; bytes: number; lines: number; sha256: string }[];
  tasks: number;
  rollouts: number;
  /** Null if no rollout has a reward. */
  reward: Estimate | null;
  coverage: Coverage;
}

/** Checks every byte of a packed run against its digests, and reads all rollouts. Throws at the first damage. */
export async function verifyPacked(
  path: string,
  options: { signal?: AbortSignal; onProgress?: (bytes: number, total: number) => void } = {},
): Promise<VerifiedPack> {
  const run = PackedRun.open(path);
  const { files, gym_version, packed_at } = run.directory;
  let at = HEAD.length;
  for (const file of files) {
    const whole = createHash("sha256");
    let [bytes, lines] = [0, 0];
    for (const chunk of file.chunks) {
      options.signal?.throwIfAborted();
      if (chunk.offset !== at) throw damaged(path, at, "bytes that belong to no chunk");
      whole.update(run.content(chunk));
      at += chunk.length;
      bytes += chunk.bytes;
      lines += chunk.lines;
      options.onProgress?.(at, run.size);
      await yieldToLoop();
    }
    if (bytes !== file.bytes || lines !== file.lines || whole.digest("hex") !== file.sha256)
      throw damaged(path, at, `'${file.name}' is not what the directory describes`);
  }
  const { tasks, rollouts, coverage } = await readRunTasks(rolloutsInside(path), options);
  const rewards = [...tasks.values()].map((task) => task.rewards);
  return {
    path,
    bytes: run.size,
    digest: run.digest,
    gym_version,
    packed_at,
    files: files.map(({ name, bytes, lines, sha256 }) => ({ name, bytes, lines, sha256 })),
    tasks: tasks.size,
    rollouts,
    reward: rewards.length === 0 ? null : clusteredMean(rewards),
    coverage,
  };
}
