import { readFileSync } from "node:fs";
import { killAll, killWithVariable, pids } from "../../marked-processes.ts";

/** Clock ticks a second in /proc; fixed on Linux. */
const TICKS = 100;

export interface ProcessState {
  pid: number;
  parent: number;
  /** Ended, and not yet waited for by its parent. */
  isZombie: boolean;
  /** Name of the program, cut to 15 characters by the kernel. */
  name: string;
  cpuMs: number;
  /** CPU of children that have ended and were waited for, and of theirs. */
  endedChildrenCpuMs: number;
}

/** A process and all its descendants, as /proc shows them; empty where the system has no /proc. */
export function processTree(pid: number): ProcessState[] {
  const all = pids().flatMap((each) => stateOf(each) ?? []);
  const children = new Map<number, ProcessState[]>();
  for (const state of all) {
    const siblings = children.get(state.parent);
    if (siblings) siblings.push(state);
    else children.set(state.parent, [state]);
  }
  const tree = all.filter((state) => state.pid === pid);
  for (let place = 0; place < tree.length; place++) {
    const parent = tree[place];
    if (parent) tree.push(...(children.get(parent.pid) ?? []));
  }
  return tree;
}

/** CPU (user and system) the processes of the tree have used, in milliseconds. */
export function treeCpuMs(pid: number): number {
  return processTree(pid).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/** Memory of all processes of the tree in megabytes; what they share is counted for each of them. */
export function treeMemoryMb(pid: number, field: "VmRSS" | "VmHWM"): number {
  return processTree(pid).reduce((sum, state) => sum + memoryMb(state.pid, field), 0);
}

/** A size from /proc/<pid>/status in megabytes: `VmRSS` now, `VmHWM` at its peak; 0 when the process has ended. */
export function memoryMb(pid: number, field: "VmRSS" | "VmHWM"): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(procText(`/proc/${pid}/status`));
  return Number(match?.[1] ?? 0) / 1024;
}

function stateOf(pid: number): ProcessState | undefined {
  const text = procText(`/proc/${pid}/stat`);
  if (text === "") return undefined;
  // The name stands in brackets and may hold anything; fields are counted behind it.
  const end = text.lastIndexOf(")");
  const name = text.slice(text.indexOf("(") + 1, end);
  const fields = text.slice(end + 2).split(" ");
  const ticks = (from: number) => ((Number(fields[from]) + Number(fields[from + 1])) * 1000) / TICKS;
  return {
    pid,
    parent: Number(fields[1] ?? "0"),
    isZombie: fields[0] === "Z",
    name,
    cpuMs: ticks(11),
    endedChildrenCpuMs: ticks(13),
  };
}

/** A file of /proc; empty when it is gone or cannot be read. */
export function procText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** All processes below this one; empty where the system has no `/proc`. */
export function descendants(): number[] {
  return processTree(process.pid)
    .filter(({ pid, isZombie }) => pid !== process.pid && !isZombie)
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
