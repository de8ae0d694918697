import { readdirSync, readFileSync } from "node:fs";

/** How often the processes are looked through: one that is about to be ended can start another. */
const MAX_ROUNDS = 10;

/**
 * Ends the processes that have a variable in their environment, which whatever they start inherits: also those that have left their
 * process group or lost their parent. Does nothing where the system has no `/proc`.
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
      // It has just ended by itself.
    }
  }
}

/** All processes; empty where the system has no `/proc`. */
export function pids(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
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
