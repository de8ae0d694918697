import { memoryMb, processTree } from "../src/servers/hosting/processes/process-tree.ts";

/** CPU (user and system) the processes of the tree have used, in milliseconds. */
export function treeCpuMs(pid: number): number {
  return processTree(pid).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/** Memory of all processes of the tree in megabytes; shared memory is counted for each process. */
export function treeMemoryMb(pid: number, field: "VmRSS" | "VmHWM"): number {
  return processTree(pid).reduce((sum, state) => sum + memoryMb(state.pid, field), 0);
}
