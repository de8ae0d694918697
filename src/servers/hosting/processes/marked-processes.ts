import { readdirSync, readFileSync } from "node:fs";

/** Maximum number of searches, because a process can start another one before it ends. */
const MAX_ROUNDS = 10;

/**
 * Kills the processes with a variable in their environment. Child processes inherit the variable, so this includes those that
 * left their process group or lost their parent. Does nothing on systems without `/proc`.
 */
export function killWithVariable(name: string, value: string): void {
  const entry = `${name}=${value}`;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = pids().filter((pid) => pid !== process.pid && environmentOf(pid).includes(entry));
    if (found.length === 0) return;
    killAll(found);
  }
}

export function killAll(targets: readonly number[]): void {
  for (const target of targets) {
    try {
      process.kill(target, "SIGKILL");
    } catch {
      // The process has already ended.
    }
  }
}

/** The ids of all processes; empty on systems without `/proc`. */
export function pids(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** The environment of a process; empty if it belongs to another user. */
function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
