import { existsSync, readFileSync } from "node:fs";
import { refuseZeroByte } from "../../plain-words.ts";
import type { Mount } from "./mounts.ts";
import type { BubblewrapLimits } from "./settings.ts";

/** Processes of bubblewrap itself and of the programs before it, which count towards the limit of a sandbox. */
export const OWN_PROCESSES = 4;
/** More than 68 years: what `prlimit` reads everywhere. */
const LONGEST_CPU_SECONDS = 2 ** 31 - 1;
export const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
export const SANDBOX_USER = 1000;
export const HOME = "/home/sandbox";
/** Files of /proc that speak of the whole machine. */
const HIDDEN = ["keys", "key-users", "timer_list", "sched_debug", "kcore", "latency_stats"]
  .map((name) => `/proc/${name}`)
  .filter((file) => existsSync(file));

/**
 * Runs inside, before the command: limits its processes, counted without those of other commands, and enters its directory.
 * A directory that the sandbox itself has made unusable is a failure of the command (126, as for a program that cannot be run).
 */
const ENTER = `ulimit -u "$1" 2>/dev/null || ulimit -p "$1" || exit 126
cd -- "$2" || exit 126
unset OLDPWD
shift 2
exec "$@"`;

export interface CommandView {
  /** The directory of the sandbox's own files on the host side: `root`, `etc` and `shm` lie below it. */
  store: string;
  mounts: readonly Mount[];
  /** Directories of the sandbox's own that must stay where they are, because something is mounted below them. */
  pinned: readonly string[];
  /** Whether /etc comes with the image. */
  ownEtc: boolean;
  network: "none" | "host";
}

/** Options for bubblewrap around one command: what it sees, as whom, and with which variables. */
export function viewArguments(
  view: CommandView,
  command: { env: Readonly<Record<string, string>>; user: number },
): string[] {
  const namespaces = ["user", "pid", "ipc", "uts", "cgroup-try", ...(view.network === "none" ? ["net"] : [])];
  const words = [
    ...namespaces.map((name) => `--unshare-${name}`),
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL", "--hostname", "sandbox"],
    ...["--uid", String(command.user), "--gid", String(command.user)],
    ...["--bind", `${view.store}/root`, "/"],
    ...(view.ownEtc ? ["--ro-bind", `${view.store}/etc`, "/etc"] : []),
    // A mount point cannot be renamed or replaced by a link, which bubblewrap would follow for the next command.
    ...view.pinned.flatMap((directory) => ["--bind", `${view.store}/root${directory}`, directory]),
    ...view.mounts.flatMap(({ source, target }) => ["--ro-bind", source, target]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...HIDDEN.flatMap((file) => ["--ro-bind", "/dev/null", file]),
    // Not a file system of its own: that would have no limit on the number of files.
    ...["--bind", `${view.store}/shm`, "/dev/shm"],
    ...["--remount-ro", "/dev", "--chdir", "/", "--clearenv"],
    ...Object.entries({ PATH, HOME, LANG: "C.UTF-8", TMPDIR: "/tmp", ...command.env }).flatMap(
      ([name, value]) => ["--setenv", name, value],
    ),
  ];
  return words.map((word) => refuseZeroByte(word, `The argument ${JSON.stringify(word)} of bubblewrap`));
}

/** The command as bubblewrap runs it. */
export function enterArguments(
  limits: BubblewrapLimits,
  cwd: string,
  argv: readonly string[],
): readonly string[] {
  return ["/bin/sh", "-c", ENTER, "sandbox", String(limits.processes), cwd, ...argv];
}

/**
 * Options for `prlimit`. Time is counted per process and core, so that a stuck one ends even if nobody is left to end it. The
 * limit on processes is for all commands that may run in the sandbox at a time; each then gets one of its own.
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

/** A range no distribution gives to users or containers. */
const FIRST = 1_900_000_000;
const COUNT = 100_000_000;
/** For containers, where only the lowest 65,536 exist. */
const FIRST_OF_FEW = 60_100;
const COUNT_OF_FEW = 4_000;

/**
 * The user of this machine whose rights a sandbox has: ourselves, unless that is root. Root gets one without rights, a
 * different one for each sandbox, so that none can touch the processes of another and the process limit counts its own only.
 */
export function sandboxUser(random: () => number = Math.random): number | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const [first, count] = highestUser() >= FIRST + COUNT ? [FIRST, COUNT] : [FIRST_OF_FEW, COUNT_OF_FEW];
  return first + Math.floor(random() * count);
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
