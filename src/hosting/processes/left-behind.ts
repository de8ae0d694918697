import { killAll, killWithVariable } from "../../marked-processes.ts";
import { processTree } from "./process-tree.ts";

/** All processes below this one; empty where the system has no `/proc`. */
export function descendants(of = process.pid): number[] {
  return processTree(of)
    .filter(({ pid, isZombie }) => pid !== of && !isZombie)
    .map(({ pid }) => pid);
}

/** Kills the processes that servers have started and not ended. Processes that existed before are left alone. */
export function killLeftBehind(before: readonly number[]): void {
  const known = new Set(before);
  killAll(descendants().filter((found) => !known.has(found)));
}

/** Set for the process of a server, each time to another value; whatever it starts inherits it. */
export const PROCESS_MARK = "NEMO_GYM_SERVER_PROCESS";

/** Ends what a server's process has started, also what has left its process group or lost its parent. */
export function killMarked(mark: string): void {
  killWithVariable(PROCESS_MARK, mark);
}

/** The same from within that process. Also ends the process itself if it leads a process group. */
export function killOwnGroup(): void {
  const mark = process.env[PROCESS_MARK];
  if (mark) killMarked(mark);
  killAll([-process.pid]);
}
