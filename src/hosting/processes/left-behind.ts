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
