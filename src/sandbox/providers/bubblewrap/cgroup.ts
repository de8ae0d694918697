import { constants } from "node:fs";
import { access, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { errorMessage } from "../../../base/errors.ts";
import { sleep } from "../../../base/transport/light-door.ts";
import { SandboxUnavailableError } from "../../errors.ts";
import { newSandboxName, ownerState } from "../../owner.ts";
import { OWN_PROCESSES } from "./arguments.ts";
import type { BubblewrapLimits } from "./settings.ts";

const NEEDED = ["memory", "pids"];
const CPU_PERIOD_US = 100_000;
/** A group can be removed only when its killed processes are gone, which takes a moment. */
const REMOVE_ATTEMPTS = 8;
const FIRST_PAUSE_MS = 5;

/** The directory for new control groups (version 2), or the reason why there is no such directory. */
export type CgroupParent = { directory: string; hasCpu: boolean } | { missing: string };

/** The directory for the setting `cgroup`. Throws if a configured directory cannot be used. */
export async function chooseCgroups(setting: string): Promise<CgroupParent> {
  if (setting === "none") return { missing: "turned off by the settings" };
  if (setting === "auto") return findCgroups();
  const parent = await tryDirectory(setting, { mayEnable: true });
  if ("directory" in parent) return parent;
  throw new SandboxUnavailableError(`The control group '${setting}' cannot be used: ${parent.missing}.`);
}

/**
 * Finds a directory of the control group hierarchy in which this user may create groups with limits: the group of this
 * process, or one above it. With systemd it is the slice of the user, for a login or `systemd-run --user --scope`.
 */
export async function findCgroups(proc = "/proc/self"): Promise<CgroupParent> {
  const own = await ownGroup(proc);
  if ("missing" in own) return own;
  const { mountPoint, names } = own;
  let missing = "";
  for (let depth = names.length; depth >= 0; depth--) {
    const directory = path.join(mountPoint, ...names.slice(0, depth));
    // Only the group of this process may be changed; the groups above it are shared with other processes.
    const parent = await tryDirectory(directory, { mayEnable: depth === names.length });
    if ("directory" in parent) return parent;
    missing ||= parent.missing;
  }
  return { missing };
}

async function ownGroup(
  proc: string,
): Promise<{ mountPoint: string; names: string[] } | { missing: string }> {
  try {
    const group = /^0::(\/.*)$/m.exec(await readFile(`${proc}/cgroup`, "utf8"))?.[1];
    const mount = (await readFile(`${proc}/mountinfo`, "utf8"))
      .split("\n")
      .map((line) => line.split(" "))
      .find((fields) => fields[fields.indexOf("-") + 1] === "cgroup2");
    if (group === undefined || mount === undefined) return { missing: "cgroup v2 is not mounted" };
    const [root = "/", mountPoint = ""] = [mount[3], mount[4]];
    const below = path.posix.relative(root, group);
    if (group.startsWith("/..") || below.startsWith(".."))
      return { missing: "the group of this process is not visible here" };
    return { mountPoint, names: below.split("/").filter(Boolean) };
  } catch (error) {
    return { missing: errorMessage(error) };
  }
}

async function tryDirectory(directory: string, { mayEnable }: { mayEnable: boolean }): Promise<CgroupParent> {
  const file = (name: string) => path.join(directory, name);
  const namesIn = async (name: string) => (await readFile(file(name), "utf8")).split(/\s+/).filter(Boolean);
  try {
    for (const name of ["", "cgroup.procs", "cgroup.subtree_control"])
      await access(file(name), constants.W_OK);
    const available = await namesIn("cgroup.controllers");
    const absent = NEEDED.filter((name) => !available.includes(name));
    if (absent.length > 0) return { missing: `${directory} has no controller ${absent.join(", ")}` };
    let enabled = await namesIn("cgroup.subtree_control");
    if (mayEnable && NEEDED.some((name) => !enabled.includes(name))) {
      const wanted = [...NEEDED, "cpu"].filter((name) => available.includes(name));
      await writeFile(file("cgroup.subtree_control"), wanted.map((name) => `+${name}`).join(" "));
      enabled = await namesIn("cgroup.subtree_control");
    }
    const off = NEEDED.filter((name) => !enabled.includes(name));
    if (off.length > 0) return { missing: `${directory} does not hand on the controller ${off.join(", ")}` };
    return { directory, hasCpu: enabled.includes("cpu") };
  } catch (error) {
    return { missing: errorMessage(error) };
  }
}

/** A control group for one command, with hard limits for all its processes together. */
export class CommandGroup {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async create(
    parent: Extract<CgroupParent, { directory: string }>,
    limits: BubblewrapLimits,
  ): Promise<CommandGroup> {
    const directory = path.join(parent.directory, newSandboxName());
    await mkdir(directory);
    const group = new CommandGroup(directory);
    try {
      // Files of a sandbox are in memory and count for the group that wrote them.
      await group.#set("memory.max", limits.memoryBytes + limits.diskBytes);
      await group.#set("memory.swap.max", 0, { optional: true });
      await group.#set("memory.oom.group", 1);
      await group.#set("pids.max", limits.processes + OWN_PROCESSES);
      if (parent.hasCpu)
        await group.#set("cpu.max", `${Math.ceil(limits.cpu * CPU_PERIOD_US)} ${CPU_PERIOD_US}`);
      return group;
    } catch (error) {
      await group.remove();
      throw error;
    }
  }

  /** A process joins the group when its id is written to this file. */
  get procs(): string {
    return path.join(this.#directory, "cgroup.procs");
  }

  /** Whether the kernel killed processes at the memory limit of the group. */
  async ranOutOfMemory(): Promise<boolean> {
    const events = await readFile(path.join(this.#directory, "memory.events"), "utf8");
    return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0) > 0;
  }

  /** A failure does not change the result of the command; `gym sandbox gc` finds the group later. */
  async remove(): Promise<void> {
    await removeGroup(this.#directory).catch(() => undefined);
  }

  /** A kernel without swap lacks the file of its limit. */
  async #set(name: string, value: string | number, { optional = false } = {}): Promise<void> {
    await writeFile(path.join(this.#directory, name), String(value)).catch((error: NodeJS.ErrnoException) => {
      if (!optional || error.code !== "ENOENT") throw error;
    });
  }
}

/** Groups whose process has ended. */
export async function leftGroups(parent: CgroupParent): Promise<string[]> {
  if ("missing" in parent) return [];
  const names = (await readdir(parent.directory)).filter((name) => ownerState(name) === "left behind");
  return names.map((name) => path.join(parent.directory, name));
}

/** Kills the processes of a group and removes it. */
export async function removeGroup(directory: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      // The file is missing before Linux 5.14.
      await writeFile(path.join(directory, "cgroup.kill"), "1").catch(() => undefined);
      return await rmdir(directory);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
      if (attempt === REMOVE_ATTEMPTS) throw error;
      await sleep(FIRST_PAUSE_MS * 2 ** attempt);
    }
  }
}
