import { once } from "node:events";
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { PassThrough, type Readable } from "node:stream";
import { Deadline } from "../../../calls/deadline.ts";
import { errorMessage } from "../../../errors.ts";
import { SandboxCreateError } from "../../errors.ts";
import { type ProcessOutcome, runInBackground } from "../../processes/run-process.ts";
import { PATH } from "./arguments.ts";
import { type Mount, SYSTEM, topOf } from "./mounts.ts";
import type { BubblewrapPrograms } from "./programs.ts";
import type { BubblewrapLimits } from "./settings.ts";

const START_TIMEOUT_MS = 30_000;
const MAX_MESSAGE_BYTES = 16 * 1024;
/** Where the files of a sandbox lie. The path exists in the holder's mount namespace only, so nothing is left on the machine. */
export const STORE = "/nemo-gym-sandbox";
/** Marks the holder among the processes of the machine. */
const HOLDER_NAME = "nemo-gym-sandbox";
/**
 * Mounts the store and fills it by instructions of three words: kind, path below the store, value. No path may lead through a
 * link: an image could have put one there. Then it prints its process number, the same inside as outside, and waits for the end of its
 * input.
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

/** A holder does not keep this process alive. While somebody waits for one, this does. */
async function whileAwake<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, START_TIMEOUT_MS);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

/** What the script prints when all is ready. */
async function firstLine(output: Readable, ended: Promise<ProcessOutcome>): Promise<string> {
  const failed = ended.then(({ code, stderr }) => {
    throw new Error(stderr.trim() || `it ended with code ${code}`);
  });
  const [line] = await Promise.race([once(output, "data"), failed]);
  return String(line).trim();
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

function holderProcess({ programs, uid, limits, mounts, entries }: HolderRequest) {
  const options = ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "CAP_SYS_ADMIN"];
  const root = rootArguments([
    ...Object.values(programs),
    ...mounts.map(({ source }) => source),
    ...entries.flatMap((entry) => (entry.kind === "copy" ? [entry.value] : [])),
  ]);
  const size = `size=${limits.diskBytes},nr_inodes=${limits.files},mode=0700`;
  const words = entries.flatMap((entry) => [entry.kind, entry.path, "value" in entry ? entry.value : ""]);
  return {
    program: programs.bwrap,
    args: [
      ...[...options, "--die-with-parent", ...root, "--dir", STORE, "--"],
      ...["/bin/sh", "-c", SCRIPT, HOLDER_NAME, programs.mount, size, STORE, ...words],
    ],
    env: { PATH },
    uid,
    // It ends with this process, and the holder follows.
    stdin: new PassThrough(),
    maxOutputBytes: MAX_MESSAGE_BYTES,
  };
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
