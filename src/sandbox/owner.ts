import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { isRunning, startTicks } from "../files/process-identity.ts";

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
  // Process ids are reused; the start time distinguishes them.
  return startOf(Number(pid)) === start ? "in use" : "left behind";
}

function machine(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}

/** When a process began, in ticks since the start of the machine; undefined when it does not exist. */
function startOf(pid: number): string | undefined {
  const ticks = startTicks(pid);
  if (ticks !== undefined) return Number(ticks).toString(36);
  return process.platform !== "linux" && isRunning(pid) ? "0" : undefined;
}
