import { existsSync, readFileSync } from "node:fs";
import { rejectZeroByte } from "../../safe-text.ts";
import type { Mount } from "./mounts.ts";
import type { BubblewrapLimits } from "./settings.ts";

/** Processes of bubblewrap and of the programs that start it. They count towards the process limit of a sandbox. */
export const OWN_PROCESSES = 4;
/** The largest value that every `prlimit` can read, about 68 years. */
const LONGEST_CPU_SECONDS = 2 ** 31 - 1;
export const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
export const SANDBOX_USER = 1000;
export const HOME = "/home/sandbox";
/** Files of /proc with information about the whole machine. */
const HIDDEN = ["keys", "key-users", "timer_list", "sched_debug", "kcore", "latency_stats"]
  .map((name) => `/proc/${name}`)
  .filter((file) => existsSync(file));

/**
 * Runs in the sandbox before the command: sets the process limit, which does not count the processes of other commands,
 * and enters the directory. If commands have made the directory unusable, the command fails with 126, the shell's code for
 * a program that cannot be run.
 */
const ENTER = `ulimit -u "$1" 2>/dev/null || ulimit -p "$1" || exit 126
cd -- "$2" || exit 126
unset OLDPWD
shift 2
exec "$@"`;

export interface CommandView {
  /** The directory of the sandbox's files, outside the sandbox. It contains `root`, `etc` and `shm`. */
  store: string;
  mounts: readonly Mount[];
  /** Writable directories with mounts below them. Commands must not be able to move them. */
  pinned: readonly string[];
  /** Whether /etc comes from the store and not from the image. */
  ownEtc: boolean;
  network: "none" | "host";
}

/** Options of bubblewrap for one command: its file system, namespaces, user and environment variables. */
export function viewArguments(
  view: CommandView,
  command: { env: Readonly<Record<string, string>>; user: number },
): string[] {
  const namespaces = ["user", "pid", "ipc", "uts", "cgroup-try", ...(view.network === "none" ? ["net"] : [])];
  const args = [
    ...namespaces.map((name) => `--unshare-${name}`),
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL", "--hostname", "sandbox"],
    ...["--uid", String(command.user), "--gid", String(command.user)],
    ...["--bind", `${view.store}/root`, "/"],
    ...(view.ownEtc ? ["--ro-bind", `${view.store}/etc`, "/etc"] : []),
    // A mount point cannot be renamed or replaced by a link. Bubblewrap would follow such a link for the next command.
    ...view.pinned.flatMap((directory) => ["--bind", `${view.store}/root${directory}`, directory]),
    ...view.mounts.flatMap(({ source, target }) => ["--ro-bind", source, target]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...HIDDEN.flatMap((file) => ["--ro-bind", "/dev/null", file]),
    // A separate tmpfs would have no limit on the number of files.
    ...["--bind", `${view.store}/shm`, "/dev/shm"],
    ...["--remount-ro", "/dev", "--chdir", "/", "--clearenv"],
    ...Object.entries({ PATH, HOME, LANG: "C.UTF-8", TMPDIR: "/tmp", ...command.env }).flatMap(
      ([name, value]) => ["--setenv", name, value],
    ),
  ];
  return args.map((arg) => rejectZeroByte(arg, `The argument ${JSON.stringify(arg)} of bubblewrap`));
}

/** The command that bubblewrap runs. */
export function enterArguments(limits: BubblewrapLimits, cwd: string, argv: readonly string[]): string[] {
  return ["/bin/sh", "-c", ENTER, "sandbox", String(limits.processes), cwd, ...argv];
}

/**
 * Options of `prlimit`. CPU time is limited per process, so that a stuck process ends even if this process is gone. The
 * process limit is for all concurrent commands of the sandbox together; `enterArguments` sets the limit of each.
 */
export function limitArguments(
  limits: BubblewrapLimits,
  concurrency: number,
  timeoutSeconds: number | null,
): string[] {
  const cpuSeconds =
    timeoutSeconds === null
      ? []
      : [Math.min(Math.ceil(timeoutSeconds * Math.ceil(limits.cpu)) + 1, LONGEST_CPU_SECONDS)];
  return [
    ...cpuSeconds.map((value) => `--cpu=${value}`),
    `--data=${limits.memoryBytes}`,
    `--fsize=${limits.diskBytes}`,
    `--nofile=${limits.openFiles}`,
    `--nproc=${(limits.processes + OWN_PROCESSES) * concurrency}`,
    "--msgqueue=0",
    "--core=0",
  ];
}

/** A range of user ids that no distribution assigns to users or containers. */
const FIRST = 1_900_000_000;
const COUNT = 100_000_000;
/** For containers that have only the lowest 65,536 user ids. */
const FIRST_OF_FEW = 60_100;
const COUNT_OF_FEW = 4_000;

/**
 * The user of this machine that runs a sandbox; undefined: the current user. If that is root, each sandbox gets a different
 * user without rights, so that it cannot reach the processes of another sandbox and the process limit counts only its own.
 */
export function sandboxUser(): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [first, count] = highestUser() >= FIRST + COUNT ? [FIRST, COUNT] : [FIRST_OF_FEW, COUNT_OF_FEW];
  return first + Math.floor(Math.random() * count);
}

function highestUser(): number {
  const rows = readFileSync("/proc/self/uid_map", "utf8").trim().split("\n");
  return Math.max(
    ...rows.map((row) => {
      const [inside = 0, , length = 0] = row.trim().split(/\s+/).map(Number);
      return inside + length - 1;
    }),
  );
}

let nextCore = 0;

/** Cores for `taskset`, in rotation among those this process may use; undefined if the limit allows all of them. */
export function pickCores(cpu: number): string | undefined {
  const allowed = allowedCores();
  const count = Math.max(1, Math.ceil(cpu));
  if (count >= allowed.length) return undefined;
  const picked = Array.from({ length: count }, (_, index) => allowed[(nextCore + index) % allowed.length]);
  nextCore = (nextCore + count) % allowed.length;
  return picked.join(",");
}

/** Reads a list such as `0-3,8`. */
function allowedCores(): number[] {
  const status = readFileSync("/proc/self/status", "utf8");
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? "";
  return list.split(",").flatMap((part) => {
    const [first, last = first] = part.split("-").map(Number);
    if (first === undefined || last === undefined || Number.isNaN(first + last)) return [];
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}
