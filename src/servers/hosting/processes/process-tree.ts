import { readFileSync } from "node:fs";
import { killAll, killWithVariable, pids } from "./marked-processes.ts";

/** Clock ticks per second in /proc; fixed on Linux. */
const TICKS = 100;

export interface ProcessState {
  pid: number;
  parent: number;
  /** Ended, and not yet waited for by its parent. */
  isZombie: boolean;
  /** Name of the program, truncated to 15 characters by the kernel. */
  name: string;
  cpuMs: number;
  /** CPU time of ended and reaped children, and of their descendants. */
  endedChildrenCpuMs: number;
}

/** A process and all its descendants according to /proc; empty on systems without /proc. */
export function processTree(pid: number): ProcessState[] {
  const all = pids().flatMap((each) => stateOf(each) ?? []);
  const children = new Map<number, ProcessState[]>();
  for (const state of all) {
    const siblings = children.get(state.parent);
    if (siblings) siblings.push(state);
    else children.set(state.parent, [state]);
  }
  const tree = all.filter((state) => state.pid === pid);
  for (const parent of tree) tree.push(...(children.get(parent.pid) ?? []));
  return tree;
}

/**
 * A size from /proc/<pid>/status in megabytes: `VmRSS` is the current size, `VmHWM` the peak; 0 when the process has
 * ended.
 */
export function memoryMb(pid: number, field: "VmRSS" | "VmHWM"): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(procText(`/proc/${pid}/status`));
  return Number(match?.[1] ?? 0) / 1024;
}

function stateOf(pid: number): ProcessState | undefined {
  const text = procText(`/proc/${pid}/stat`);
  if (text === "") return undefined;
  // The name is in brackets and may contain anything; fields are counted after it.
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

/** The content of a file of /proc; empty when it does not exist or cannot be read. */
export function procText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** All descendants of this process; empty on systems without `/proc`. */
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

/** Environment variable with a unique value for the process of a server; its children inherit it. */
export const PROCESS_MARK = "NEMO_GYM_SERVER_PROCESS";

/**
 * Ends the processes that a server's process has started, including those that left its process group or lost their
 * parent.
 */
export function killMarked(mark: string): void {
  killWithVariable(PROCESS_MARK, mark);
}

/** Like `killMarked`, from within that process. Also ends the process itself if it leads a process group. */
export function killOwnGroup(): void {
  const mark = process.env[PROCESS_MARK];
  if (mark) killMarked(mark);
  killAll([-process.pid]);
}
