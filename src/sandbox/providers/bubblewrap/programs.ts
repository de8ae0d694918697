import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { errorMessage } from "../../../base/errors.ts";
import { SandboxUnavailableError } from "../../errors.ts";
import { findProgram } from "../../find-program.ts";

/** The first version with all options that the provider uses. */
const OLDEST = [0, 8] as const;
const CHECK_TIMEOUT_MS = 10_000;

export type BubblewrapPrograms = Awaited<ReturnType<typeof findPrograms>>;

/** Finds the programs and checks the version of bubblewrap. */
export async function findPrograms() {
  if (process.platform !== "linux")
    throw new SandboxUnavailableError(
      "The sandbox provider 'bubblewrap' runs on Linux only; use 'docker' here.",
    );
  const bwrap = findProgram(
    "bwrap",
    "Install it (`apt-get install bubblewrap`, `dnf install bubblewrap`), or use another sandbox provider.",
  );
  const utilLinux = "It belongs to util-linux; install that package.";
  const programs = {
    bwrap,
    nsenter: findProgram("nsenter", utilLinux),
    prlimit: findProgram("prlimit", utilLinux),
    taskset: findProgram("taskset", utilLinux),
    mount: findProgram("mount", utilLinux),
  };
  checkVersion(await versionOf(bwrap));
  return programs;
}

export async function versionOf(bwrap: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(bwrap, ["--version"], { timeout: CHECK_TIMEOUT_MS });
    return stdout.trim();
  } catch (error) {
    throw new SandboxUnavailableError(`'${bwrap} --version' failed: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** Checks a version such as `bubblewrap 0.8.0`. */
function checkVersion(text: string): void {
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text)?.slice(1) ?? []).map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new SandboxUnavailableError(
    `The sandbox provider 'bubblewrap' needs bubblewrap ${OLDEST.join(".")} or newer; this is '${text}'.`,
  );
}
