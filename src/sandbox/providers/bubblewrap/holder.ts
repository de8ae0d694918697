import { once } from "node:events";
import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { errorMessage } from "../../../base/errors.ts";
import { Deadline } from "../../../base/transport/light-door.ts";
import { SandboxCreateError } from "../../errors.ts";
import { type ProcessOutcome, runInBackground } from "../../processes/run-process.ts";
import { HOME, PATH, SANDBOX_USER } from "./arguments.ts";
import { directoriesAbove, type Mount, SYSTEM, topOf } from "./mounts.ts";
import type { BubblewrapPrograms } from "./programs.ts";
import type { BubblewrapLimits } from "./settings.ts";

const START_TIMEOUT_MS = 30_000;
const MAX_MESSAGE_BYTES = 16 * 1024;
/** The path of the store, the files of a sandbox. It exists only in the holder's mount namespace, so nothing is left behind. */
export const STORE = "/nemo-gym-sandbox";
/** Identifies holders in the list of processes. */
const HOLDER_NAME = "nemo-gym-sandbox";
const PASSWD = `root:x:0:0:root:/root:/bin/sh\nsandbox:x:${SANDBOX_USER}:${SANDBOX_USER}:sandbox:${HOME}:/bin/sh\n`;
const GROUP = `root:x:0:\nsandbox:x:${SANDBOX_USER}:\n`;
/**
 * Mounts the store and creates its entries, each given by three arguments: kind, path in the store, value. A path must not lead
 * through a link, because an image can contain links. Then the script prints its process id, which is the same inside and
 * outside, and waits for the end of its input.
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
echo $$
exec cat > /dev/null`;

/** One entry of the store of a new sandbox: an empty directory, a file with a text, or a copy of a directory. */
type StoreEntry = [kind: "directory" | "text" | "copy", path: string, value: string];

interface HolderRequest {
  programs: BubblewrapPrograms;
  uid?: number;
  limits: Pick<BubblewrapLimits, "diskBytes" | "files">;
  /** The directory of an unpacked image. */
  image?: string;
  workdir: string;
  /** The parts of the machine that commands see; the holder must see them too. */
  mounts: readonly Mount[];
  readyTimeoutMs?: number;
  signal?: AbortSignal;
}

/**
 * Holds the files of one sandbox: a process with its own user and mount namespaces, and a file system in memory at `STORE`
 * with a limited size and number of files. Commands enter these namespaces first and find the store there. The files are
 * gone when the holder ends: after `close`, or with this process.
 */
export class Holder {
  readonly pid: number;
  readonly #stop: AbortController;
  readonly #ended: Promise<unknown>;
  #alive = true;

  private constructor(pid: number, stop: AbortController, ended: Promise<unknown>) {
    this.pid = pid;
    this.#stop = stop;
    const onEnded = () => {
      this.#alive = false;
    };
    this.#ended = ended.then(onEnded, onEnded);
  }

  static async start(request: HolderRequest): Promise<Holder> {
    const stop = new AbortController();
    const deadline = new Deadline(request.readyTimeoutMs ?? START_TIMEOUT_MS, request.signal);
    try {
      const output = new PassThrough();
      const ended = runInBackground({ ...holderProcess(request), stdoutTo: output }, stop.signal);
      const pid = await whileAwake(deadline.race(firstLine(output, ended)));
      return new Holder(Number(pid), stop, ended);
    } catch (error) {
      stop.abort();
      request.signal?.throwIfAborted();
      throw new SandboxCreateError(`bubblewrap could not set up a sandbox: ${errorMessage(error)}`, {
        cause: error,
      });
    } finally {
      deadline.clear();
    }
  }

  get alive(): boolean {
    return this.#alive;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await whileAwake(this.#ended);
  }
}

/** Keeps this process alive while it waits for a holder. The holder itself does not keep it alive. */
async function whileAwake<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, START_TIMEOUT_MS);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

/** The line that the script prints when the store is ready. */
async function firstLine(output: Readable, ended: Promise<ProcessOutcome>): Promise<string> {
  const failed = ended.then(({ code, stderr }) => {
    throw new Error(stderr.trim() || `it ended with code ${code}`);
  });
  const [line] = await Promise.race([once(output, "data"), failed]);
  return String(line).trim();
}

/** The holders of all processes: bubblewraps with the name in their arguments, without those that another one started. */
export async function findHolders(): Promise<{ pid: number; parent: number }[]> {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const [line, stat] = await Promise.all(
        ["cmdline", "stat"].map((file) => readText(`/proc/${name}/${file}`)),
      );
      const args = (line ?? "").split("\0");
      if (!args[0]?.endsWith("bwrap") || !args.includes(HOLDER_NAME)) return [];
      const parent = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      return [{ pid: Number(name), parent }];
    }),
  );
  const holders = found.flat();
  const pids = new Set(holders.map(({ pid }) => pid));
  return holders.filter(({ parent }) => !pids.has(parent));
}

/** A process may end while its files are read. */
function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}

function holderProcess({ programs, uid, limits, image, workdir, mounts }: HolderRequest) {
  const options = ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "CAP_SYS_ADMIN"];
  const entries = storeEntries(image, mounts, workdir);
  const root = rootArguments([
    ...Object.values(programs),
    ...mounts.map(({ source }) => source),
    ...entries.flatMap(([kind, , source]) => (kind === "copy" ? [source] : [])),
  ]);
  const size = `size=${limits.diskBytes},nr_inodes=${limits.files},mode=0700`;
  return {
    program: programs.bwrap,
    args: [
      ...[...options, "--die-with-parent", ...root, "--dir", STORE, "--"],
      ...["/bin/sh", "-c", SCRIPT, HOLDER_NAME, programs.mount, size, STORE, ...entries.flat()],
    ],
    env: { PATH },
    uid,
    // The input ends with this process, and then the holder ends.
    stdin: new PassThrough(),
    maxOutputBytes: MAX_MESSAGE_BYTES,
  };
}

/**
 * The content of a new store: `root` is the writable root directory of the sandbox, `etc` is mounted read-only at /etc,
 * `shm` at /dev/shm. The work directory of an image is copied, so that commands can change it.
 */
function storeEntries(image: string | undefined, mounts: readonly Mount[], workdir: string): StoreEntry[] {
  const directory = (name: string): StoreEntry => ["directory", `root/${name}`, ""];
  return [
    ["directory", "shm", ""],
    ["text", "etc/passwd", PASSWD],
    ["text", "etc/group", GROUP],
    ["text", "etc/hosts", "127.0.0.1 localhost sandbox\n"],
    ...mounts.filter(({ target }) => target.startsWith("/etc/")).map(mountPoint),
    ...["tmp", "var/tmp", "root", HOME.slice(1)].map(directory),
    ...(image === undefined ? [] : copied(image, topOf(workdir))),
    directory(workdir.slice(1)),
    ...directoriesAbove(mounts).map((name) => directory(name.slice(1))),
  ];
}

/** Commands see /etc read-only, so every mount point in it must exist beforehand. */
function mountPoint({ source, target }: Mount): StoreEntry {
  return [statSync(source).isDirectory() ? "directory" : "text", target.slice(1), ""];
}

function copied(image: string, name: string): StoreEntry[] {
  const source = path.join(image, name);
  const isDirectory = statSync(source, { throwIfNoEntry: false })?.isDirectory() === true;
  return isDirectory ? [["copy", `root/${name}`, source]] : [];
}

/** The root directory of the holder: only the top directories of the machine that are needed. Nothing else is reachable. */
function rootArguments(files: readonly string[]): string[] {
  const needed = files.flatMap((file) => [file, realpathSync(file)]).map(topOf);
  const names = new Set([...SYSTEM, "etc", "proc", "dev", ...needed]);
  // Bubblewrap needs a directory /tmp to build the root of each command.
  const temporary = names.has("tmp") ? [] : ["--dir", "/tmp"];
  const entries = [...names].flatMap((name) => {
    const entry = lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (entry === undefined) return [];
    if (entry.isSymbolicLink()) return ["--symlink", readlinkSync(`/${name}`), `/${name}`];
    return ["--dev-bind", `/${name}`, `/${name}`];
  });
  return [...entries, ...temporary];
}
