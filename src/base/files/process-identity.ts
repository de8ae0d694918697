import { readFileSync } from "node:fs";

/** Whether a process exists on this machine. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The start time of a process in clock ticks since boot. It differs for a later process with the same pid. Linux only. */
export function startTicks(pid: number): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // Field 22. The second field is the name in parentheses, which may contain any character.
    return status.slice(status.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
