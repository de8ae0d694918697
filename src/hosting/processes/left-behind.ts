import { readFileSync } from "node:fs";
import { pids, processTree } from "./process-tree.ts";

/** All processes below this one; empty where the system has no `/proc`. */
export function descendants(of = process.pid): number[] {
  return processTree(of)
    .filter(({ pid, isZombie }) => pid !== of && !isZombie)
    .map(({ pid }) => pid);
}

/** Ends what servers have started and not ended; processes that were there before are nobody's business. */
export function killLeftBehind(before: readonly number[]): void {
  const known = new Set(before);
  killAll(descendants().filter((found) => !known.has(found)));
}

/** Set for the process of a server, each time to another value; whatever it starts inherits it. */
export const PROCESS_MARK = "NEMO_GYM_SERVER_PROCESS";

/** Ends what a server's process has started, also what has left its process group or lost its parent. */
export function killMarked(mark: string): void {
  const entry = `${PROCESS_MARK}=${mark}`;
  killAll(pids().filter((pid) => pid !== process.pid && environmentOf(pid).includes(entry)));
}

/** The same from within that process; ends it too, where it leads a process group. */
export function killOwnGroup(): void {
  const mark = process.env[PROCESS_MARK];
  if (mark) killMarked(mark);
  killAll([-process.pid]);
}

function killAll(targets: readonly number[]): void {
  for (const target of targets) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // It has just ended by itself.
    }
  }
}

/** Processes of others do not tell. */
function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
