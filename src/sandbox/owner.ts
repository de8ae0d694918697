import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { isPrivateDirectory, isRunning, startTicks } from "../base/files/door.ts";
import type { ListedSandbox } from "./provider.ts";

const PREFIX = "nemo-gym";
const NAME = /^nemo-gym-([0-9a-f]{8})-(\d+)-([0-9a-z]+)-[0-9a-f]{16}/;
const STAGING_SUFFIX = ".files";

/** The owner of a sandbox: a process of this machine that runs or has ended, or a process of another machine. */
export type OwnerState = "in use" | "left behind" | "elsewhere";

/** A new name for a sandbox. It contains the machine and the process, so that others can detect the end of that process. */
export function newSandboxName(): string {
  const { pid } = process;
  return [PREFIX, machine(), pid, startOf(pid) ?? "0", randomBytes(8).toString("hex")].join("-");
}

/** The state of the process that created a sandbox; undefined if the name is not from `newSandboxName`. */
export function ownerState(name: string): OwnerState | undefined {
  const [, host, pid, start] = NAME.exec(name) ?? [];
  if (host === undefined) return undefined;
  if (host !== machine()) return "elsewhere";
  // Process ids are reused; the start time distinguishes them.
  return startOf(Number(pid)) === start ? "in use" : "left behind";
}

/** The entries that the gym created, each with the state of its owner. */
export function withOwners(found: readonly { id: string; detail: string }[]): ListedSandbox[] {
  return found.flatMap(({ id, detail }) => {
    const state = ownerState(id);
    return state === undefined ? [] : [{ id, state, detail }];
  });
}

function machine(): string {
  return createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
}

/** The start time of a process, in ticks since boot; undefined if the process does not exist. */
function startOf(pid: number): string | undefined {
  const ticks = startTicks(pid);
  if (ticks !== undefined) return Number(ticks).toString(36);
  return process.platform !== "linux" && isRunning(pid) ? "0" : undefined;
}

/** Creates the directory of this machine that a sandbox may write to. Other users cannot read it. */
export async function makeStaging(name: string): Promise<string> {
  const directory = stagingOf(name);
  // Fails if the path exists, even as a link.
  await mkdir(directory, { mode: 0o700 });
  return directory;
}

/** Adds the staging directories of this user without a sandbox whose process has ended. */
export async function withLeftStaging(listed: readonly ListedSandbox[]): Promise<ListedSandbox[]> {
  const ids = (await readdir(tmpdir()))
    .filter((name) => name.endsWith(STAGING_SUFFIX))
    .map((name) => name.slice(0, -STAGING_SUFFIX.length))
    .filter((id) => ownerState(id) === "left behind" && listed.every((sandbox) => sandbox.id !== id))
    .filter((id) => isPrivateDirectory(stagingOf(id)));
  return [...listed, ...ids.map((id) => ({ id, state: "left behind" as const, detail: stagingOf(id) }))];
}

export async function removeStaging(name: string): Promise<void> {
  await rm(stagingOf(name), { recursive: true, force: true });
}

function stagingOf(name: string): string {
  return path.join(tmpdir(), `${name}${STAGING_SUFFIX}`);
}
