import { readFileSync } from "node:fs";

/** Whether a process of this machine exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** When a process began, in clock ticks since boot: a later process with the same pid has another number. Linux only. */
export function startTicks(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Field 22; the second field is the name in brackets, which may hold anything.
    return status.slice(status.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
