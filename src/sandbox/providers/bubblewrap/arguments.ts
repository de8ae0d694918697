import type { Mount } from "./mounts.ts";
import type { BubblewrapLimits } from "./settings.ts";

/** Shared memory of one command. */
const SHARED_MEMORY_BYTES = 16 * 1024 * 1024;
/** Processes of bubblewrap itself, which count towards the limit. */
const OWN_PROCESSES = 4;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
export const SANDBOX_USER = 1000;
export const HOME = "/home/sandbox";

export interface CommandView {
  /** The directory of the sandbox's own files on the host side: `root` and `etc` lie below it. */
  store: string;
  mounts: readonly Mount[];
  /** Whether /etc comes with the image. */
  ownEtc: boolean;
  network: "none" | "host";
}

/** Options for bubblewrap around one command: what it sees, as whom, and with which variables. */
export function viewArguments(
  view: CommandView,
  command: { cwd: string; env: Readonly<Record<string, string>>; user: number },
): string[] {
  const namespaces = ["user", "pid", "ipc", "uts", "cgroup-try", ...(view.network === "none" ? ["net"] : [])];
  return [
    ...namespaces.map((name) => `--unshare-${name}`),
    "--disable-userns",
    "--die-with-parent",
    "--new-session",
    ...["--cap-drop", "ALL", "--hostname", "sandbox"],
    ...["--uid", String(command.user), "--gid", String(command.user)],
    ...["--bind", `${view.store}/root`, "/"],
    ...(view.ownEtc ? ["--ro-bind", `${view.store}/etc`, "/etc"] : []),
    ...view.mounts.flatMap(({ source, target }) => ["--ro-bind", source, target]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--size", String(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"],
    ...["--remount-ro", "/dev", "--chdir", command.cwd, "--clearenv"],
    ...Object.entries({ PATH, HOME, LANG: "C.UTF-8", TMPDIR: "/tmp", ...command.env }).flatMap(
      ([name, value]) => ["--setenv", name, value],
    ),
  ];
}

/** Options for `prlimit`. Time is counted per process and core, so that a stuck one ends even if nobody is left to end it. */
export function limitArguments(limits: BubblewrapLimits, timeoutSeconds: number | null): string[] {
  const cpuSeconds = timeoutSeconds === null ? [] : [Math.ceil(timeoutSeconds * Math.ceil(limits.cpu)) + 1];
  return [
    ...cpuSeconds.map((value) => `--cpu=${value}`),
    `--data=${limits.memoryBytes}`,
    `--fsize=${limits.diskBytes}`,
    `--nofile=${limits.openFiles}`,
    `--nproc=${limits.processes + OWN_PROCESSES}`,
    "--core=0",
  ];
}
