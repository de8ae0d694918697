import { readdirSync, readFileSync } from "node:fs";

/** All processes below this one; empty where the system has no `/proc`. */
export function descendants(of = process.pid): number[] {
  const children = new Map<number, number[]>();
  for (const entry of pids()) {
    const parent = parentOf(entry);
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), entry]);
  }
  const found: number[] = [];
  const open = [of];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const child of children.get(next) ?? []) {
      found.push(child);
      open.push(child);
    }
  }
  return found;
}

/** Ends what servers have started and not ended; processes that were there before are nobody's business. */
export function killLeftBehind(before: readonly number[]): void {
  const known = new Set(before);
  for (const pid of descendants().filter((found) => !known.has(found))) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended by itself.
    }
  }
}

function pids(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** The fourth field of `stat`; the second is a name that may hold blanks and brackets. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}
