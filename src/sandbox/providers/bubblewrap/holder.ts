import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { Deadline } from "../../../calls/deadline.ts";
import { errorMessage } from "../../../errors.ts";
import { SandboxCreateError } from "../../errors.ts";
import { coverInherited } from "../../inherited-descriptors.ts";
import { killGroup } from "../../run-process.ts";
import { PATH } from "./arguments.ts";
import { type Mount, SYSTEM, topOf } from "./mounts.ts";
import type { BubblewrapPrograms } from "./programs.ts";
import type { BubblewrapLimits } from "./settings.ts";

const START_TIMEOUT_MS = 30_000;
const MAX_MESSAGE_BYTES = 16 * 1024;
/** Where the files of a sandbox lie. The path exists in the holder's mount namespace only, so nothing is left on the machine. */
export const STORE = "/nemo-gym-sandbox";
/** Marks the holder among the processes of the machine. */
export const HOLDER_NAME = "nemo-gym-sandbox";
/**
 * Mounts the store and fills it by instructions of three words: kind, path below the store, value. No path may lead through a
 * link: an image could have put one there. Then it waits for the end of its input.
 */
const SCRIPT = `set -e
umask 022
"$1" -t tmpfs -o "$2" nemo-gym "$3"
cd "$3"
shift 3
make() {
  rest=$1 at=.
  while [ -n "$rest" ]; do
    at=$at/\${rest%%/*}
    if [ -L "$at" ]; then echo "'$1' leads through a link." >&2; exit 1; fi
    if [ ! -d "$at" ]; then mkdir -- "$at"; fi
    case $rest in */*) rest=\${rest#*/} ;; *) rest= ;; esac
  done
}
while [ $# -gt 0 ]; do
  case $1 in
    directory) make "$2" ;;
    text) make "\${2%/*}"; printf %s "$3" > "./$2" ;;
    copy) make "\${2%/*}"; cp -R -- "$3" "./$2" ;;
  esac
  shift 3
done
chmod 1777 shm
echo ready
exec cat > /dev/null`;

/** One thing to put into the store of a new sandbox. */
export type StoreEntry =
  | { kind: "directory"; path: string }
  | { kind: "text" | "copy"; path: string; value: string };

export interface HolderRequest {
  programs: BubblewrapPrograms;
  uid: number | undefined;
  limits: Pick<BubblewrapLimits, "diskBytes" | "files">;
  /** What commands will see of the machine; the holder must see it too. */
  mounts: readonly Mount[];
  entries: readonly StoreEntry[];
  readyTimeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Keeps the files of one sandbox: a process in user and mount namespaces of its own, with a file system in memory at `STORE`
 * that has a fixed size and number of files. Commands enter these namespaces first, so that they find it there. The files
 * end with the process: when this process ends, or when `close` is called.
 */
export class Holder {
  readonly pid: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, pid: number) {
    this.#child = child;
    this.pid = pid;
  }

  static async start(request: HolderRequest): Promise<Holder> {
    let child: ChildProcess | undefined;
    const deadline = new Deadline(request.readyTimeoutMs ?? START_TIMEOUT_MS, request.signal);
    try {
      child = spawnHolder(request);
      const pid = await started(child, deadline.signal);
      return new Holder(child, pid);
    } catch (error) {
      if (child !== undefined) killGroup(child);
      request.signal?.throwIfAborted();
      throw new SandboxCreateError(`bubblewrap could not set up a sandbox: ${errorMessage(error)}`, {
        cause: error,
      });
    } finally {
      deadline.clear();
    }
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async close(): Promise<void> {
    if (!this.alive) return;
    const ended = once(this.#child, "exit");
    // Without this a program that has nothing else to do would end here, before the promise settles.
    this.#child.ref();
    killGroup(this.#child);
    await ended;
  }
}

/** The holders of all processes: those bubblewraps whose arguments carry the name, outermost only. */
export async function findHolders(): Promise<{ pid: number; parent: number }[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const [line, stat] = await Promise.all(
        ["cmdline", "stat"].map((file) => readText(`/proc/${name}/${file}`)),
      );
      const words = line?.split("\0") ?? [];
      if (!words[0]?.endsWith("bwrap") || !words.includes(HOLDER_NAME)) return [];
      const parent = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      return [{ pid: Number(name), parent }];
    }),
  );
  const holders = found.flat();
  const pids = new Set(holders.map(({ pid }) => pid));
  return holders.filter(({ parent }) => !pids.has(parent));
}

/** Processes end while they are looked at. */
function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}

function spawnHolder({ programs, uid, limits, mounts, entries }: HolderRequest): ChildProcess {
  const options = ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "CAP_SYS_ADMIN"];
  const root = rootArguments([
    ...Object.values(programs),
    ...mounts.map(({ source }) => source),
    ...entries.flatMap((entry) => (entry.kind === "copy" ? [entry.value] : [])),
  ]);
  const size = `size=${limits.diskBytes},nr_inodes=${limits.files},mode=0700`;
  const words = entries.flatMap((entry) => [entry.kind, entry.path, "value" in entry ? entry.value : ""]);
  const child = spawn(
    programs.bwrap,
    [
      ...[...options, "--die-with-parent", "--info-fd", "4", ...root, "--dir", STORE, "--"],
      ...["/bin/sh", "-c", SCRIPT, HOLDER_NAME, programs.mount, size, STORE, ...words],
    ],
    {
      detached: true,
      env: { PATH },
      ...(uid !== undefined && { uid, gid: uid }),
      stdio: coverInherited(["pipe", "pipe", "pipe", "ignore", "pipe"]),
    },
  );
  // A sandbox nobody stopped must not keep the program alive; its input ends with the program and it follows.
  child.unref();
  for (const stream of child.stdio) (stream as { unref?: () => void } | null)?.unref?.();
  return child;
}

/** The top directories of the machine that are needed, in a root of the holder's own. Nothing else can be reached from there. */
function rootArguments(files: readonly string[]): string[] {
  const needed = files.flatMap((file) => [file, realpathSync(file)]).map(topOf);
  const names = new Set([...SYSTEM, "etc", "proc", "dev", ...needed]);
  // Bubblewrap itself needs a directory /tmp to build the view of each command on.
  const temporary = names.has("tmp") ? [] : ["--dir", "/tmp"];
  const entries = [...names].flatMap((name) => {
    const entry = lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (entry === undefined) return [];
    if (entry.isSymbolicLink()) return ["--symlink", readlinkSync(`/${name}`), `/${name}`];
    return ["--dev-bind", `/${name}`, `/${name}`];
  });
  return [...entries, ...temporary];
}

async function started(child: ChildProcess, signal: AbortSignal): Promise<number> {
  let info = "";
  let message = "";
  const told = child.stdio[4] as Readable;
  told.on("data", (chunk: Buffer) => {
    info += chunk.toString();
  });
  // The two pipes are read in any order: the process number may come after the word that all is ready.
  const infoRead = once(told, "end", { signal });
  child.stderr?.on("data", (chunk: Buffer) => {
    if (message.length < MAX_MESSAGE_BYTES) message += chunk.toString();
  });
  const ready = child.stdout && once(child.stdout, "data", { signal });
  const keepAwake = setInterval(() => undefined, START_TIMEOUT_MS);
  try {
    await Promise.race([
      Promise.all([ready, infoRead]),
      once(child, "close", { signal }).then(([code]) => {
        throw new Error(message.trim() || `it ended with code ${code}`);
      }),
    ]);
  } finally {
    clearInterval(keepAwake);
  }
  return (JSON.parse(info) as { "child-pid": number })["child-pid"];
}
