import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

const PREFIX = "nemo-gym";
const NAME = /^nemo-gym-([0-9a-f]{8})-(\d+)-([0-9a-z]+)-[0-9a-f]{16}/;

/** Whose a sandbox is: a process of this machine that lives or is gone, or one of another machine. */
export type OwnerState = "in use" | "left behind" | "elsewhere";

/** A new name for a sandbox, which says what process of what machine made it: others can tell when that process is gone. */
export function newSandboxName(): string {
  const { pid } = process;
  return [PREFIX, machine(), pid, startOf(pid) ?? "0", randomBytes(8).toString("hex")].join("-");
}

/** The state of the process that made a sandbox; undefined for names that are none of ours. */
export function ownerState(name: string): OwnerState | undefined {
  const [, host, pid, start] = NAME.exec(name) ?? [];
  if (host === undefined) return undefined;
  if (host !== machine()) return "elsewhere";
  // Numbers of processes are used again; their start tells them apart.
  return startOf(Number(pid)) === start ? "in use" : "left behind";
}

function machine(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}

/** When a process began, in ticks since the start of the machine; undefined when there is none. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; the fields after it are counted from the third.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(fields[19]).toString(36);
  } catch {
    // No such process, or no such file system: signals tell whether it is there.
    return process.platform !== "linux" && isAlive(pid) ? "0" : undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
