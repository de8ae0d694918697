import { lstatSync, mkdirSync, mkdtempSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GymError } from "../errors.ts";

const STICKY = 0o1000;

/**
 * Returns the directory for this user's sockets, created on first use: `nemo-gym-<uid>` in `XDG_RUNTIME_DIR`, or in the
 * directory for temporary files. Other users may write to the latter, so a directory that is a link, belongs to another
 * user or is open to others is rejected. Inside the directory no other user can create or replace a name.
 */
export function userDirectory(): string {
  const parent = runtimeDirectory() ?? tmpdir();
  const directory = join(parent, `nemo-gym-${process.getuid?.() ?? "user"}`);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const problem = replaceableName(parent) ?? notPrivate(directory);
  if (problem === undefined) return directory;
  throw new GymError(
    "PRIVATE_DIRECTORY",
    `'${directory}' cannot be used for the sockets of this user: ${problem}. Remove it, or set XDG_RUNTIME_DIR or TMPDIR to your own directory.`,
  );
}

/** Creates a directory with a unique name in the user's directory, for sockets. The caller removes it. */
export function makeSocketDirectory(prefix: string): string {
  return mkdtempSync(join(userDirectory(), prefix));
}

/** Whether `path` is a directory, not a link to one, that belongs to this user and is closed to all others. */
export function isPrivateDirectory(path: string): boolean {
  return notPrivate(path) === undefined;
}

/** Runs `use` with a temporary directory that only this user can access, and removes it afterwards. */
export async function withTemporaryDirectory<T>(
  prefix: string,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** `XDG_RUNTIME_DIR`, unless it is missing or belongs to another user, as it does after `su` and `sudo -E`. */
function runtimeDirectory(): string | undefined {
  const directory = process.env["XDG_RUNTIME_DIR"];
  if (!directory) return undefined;
  const found = statSync(directory, { throwIfNoEntry: false });
  return found?.isDirectory() && isOwn(found) ? directory : undefined;
}

function notPrivate(directory: string): string | undefined {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (!found) return "it has been removed";
  if (found.isSymbolicLink()) return "it is a symbolic link";
  if (!found.isDirectory()) return "it is not a directory";
  if (!isOwn(found)) return `it belongs to user ${found.uid}`;
  // Windows does not have these modes.
  if (process.getuid && (found.mode & 0o077) !== 0) {
    return `other users have access to it (mode ${(found.mode & 0o777).toString(8)})`;
  }
  return undefined;
}

/** In a directory that all users may write to, only the sticky bit prevents others from renaming our entry. */
function replaceableName(parent: string): string | undefined {
  const { mode } = statSync(parent);
  if (!process.getuid || (mode & 0o002) === 0 || (mode & STICKY) !== 0) return undefined;
  return `every user may rename it, because '${parent}' is writable for all and not sticky`;
}

function isOwn(stats: { uid: number }): boolean {
  return process.getuid === undefined || stats.uid === process.getuid();
}
