import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks a second in /proc; fixed on Linux. */
const TICKS = 100;

interface ProcessState {
  pid: number;
  parent: number;
  cpuMs: number;
}

/** A process and all its descendants, as /proc shows them. */
export function processTree(pid: number): ProcessState[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => stateOf(Number(name)) ?? []);
  const tree = all.filter((state) => state.pid === pid);
  for (let place = 0; place < tree.length; place++) {
    const parent = tree[place]?.pid;
    tree.push(...all.filter((state) => state.parent === parent));
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
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(textOf(`/proc/${pid}/status`));
  return Number(match?.[1] ?? 0) / 1024;
}

function stateOf(pid: number): ProcessState | undefined {
  const text = textOf(`/proc/${pid}/stat`);
  if (text === "") return undefined;
  // The name stands in brackets and may hold anything; fields are counted behind it.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, parent = "0"] = fields;
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { pid, parent: Number(parent), cpuMs: (ticks * 1000) / TICKS };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // The process has ended since it was listed.
    return "";
  }
}
