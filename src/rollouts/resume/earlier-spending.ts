import { readFile } from "node:fs/promises";
import type { ArtifactPaths } from "../files/artifact-paths.ts";
import type { ResumePlan } from "./resume.ts";

/**
 * What the earlier sessions of a run have spent on model calls, in dollars: what its progress file says, which knows of failed
 * rollouts and judges, but at least what the rollouts in the output have cost.
 */
export async function earlierSpending(
  paths: Pick<ArtifactPaths, "progress">,
  { earlier }: Pick<ResumePlan, "earlier">,
): Promise<number> {
  return Math.max(earlier.cost ?? 0, await spentIn(paths.progress));
}

/** Best effort, as the file is: without it the rollouts speak. */
async function spentIn(path: string): Promise<number> {
  try {
    const { spent } = JSON.parse(await readFile(path, "utf8")) as { spent?: unknown };
    return typeof spent === "number" && spent >= 0 ? spent : 0;
  } catch {
    return 0;
  }
}
