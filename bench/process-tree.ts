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

/** A size from /proc/<pid>/status in megabytes: `VmRSS` now, `VmHWM` at its peak. */
export function memoryMb(pid: number, field: "VmRSS" | "VmHWM"): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match?.[1] ?? 0) / 1024;
}

function stateOf(pid: number): ProcessState | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    // It ended since the directory was listed.
    return undefined;
  }
  // The name stands in brackets and may hold anything; fields are counted behind it.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, parent = "0"] = fields;
  const ticks = Number(fields[11]) + Number(fields[12]);
  return { pid, parent: Number(parent), cpuMs: (ticks * 1000) / TICKS };
}
