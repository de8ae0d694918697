import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync, rmSync, statSync, utimesSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning, startTicks } from "./process-identity.ts";

/** Interval at which a holder touches its lock. */
const HEARTBEAT_MS = 2_000;
/** A holder whose process is not visible (another container) is gone if it does not touch its lock for this long. */
const SILENCE_MS = 7_000;
/** The same for a holder on another machine, because file times may arrive late. */
const REMOTE_SILENCE_MS = 120_000;
/** Holders write their identity at once. A file without one is from a Python writer, which never removes its lock file. */
const UNNAMED_MS = 2_000;
/** A takeover takes milliseconds. An older guard is from a killed process. */
const GUARD_MS = 10_000;
const RETRY_MS = 5;
/** Tasks of `withFileLock` take milliseconds. After this long, the holder hangs. */
const WAIT_LIMIT_MS = 10_000;

/** The process that holds a lock, as recorded in the lock file. */
export interface LockHolder {
  pid: number;
  host: string;
  started: string;
  /** Unique for each lock. Older versions did not write this and the following fields. */
  id?: string;
  /** Boot of the machine, pid namespace and start time of the process. With the pid, they identify one process. */
  boot?: string;
  namespace?: string;
  ticks?: string;
}

const UNKNOWN_HOLDER: LockHolder = { pid: 0, host: "an unknown host", started: "an unknown time" };

export interface LockOptions {
  /** How long to wait for a live holder. Default: 0. */
  waitMs?: number;
  /** After this long without a touch, a holder that is not visible counts as gone. Default: 7000. */
  silenceMs?: number;
}

/** A lock file that names its holder. It is valid until it is released or the process is gone. */
export class FileLock {
  readonly path: string;
  readonly #id: string;

  private constructor(path: string, id: string) {
    this.path = path;
    this.#id = id;
  }

  /** Takes a lock, also from a process that is gone. Returns the holder if another process has the lock. */
  static async take(path: string, options: LockOptions = {}): Promise<FileLock | LockHolder> {
    const { waitMs = 0, silenceMs = SILENCE_MS } = options;
    const began = performance.now();
    for (;;) {
      const id = randomUUID();
      if (await create(path, id)) {
        const lock = new FileLock(path, id);
        keep(lock);
        return lock;
      }
      const holder = await holderOf(path);
      const state = stateOf(holder, path, silenceMs);
      const limit = state === "alive" ? waitMs : Math.max(waitMs, silenceMs);
      if (state === "gone") await removeGone(path, silenceMs);
      else if (performance.now() - began >= limit) return holder ?? UNKNOWN_HOLDER;
      else await delay(RETRY_MS);
    }
  }

  release(): void {
    forget(this);
    if (readHolder(this.path)?.id === this.#id) rmSync(this.path, { force: true });
  }

  touch(): void {
    const now = new Date();
    try {
      utimesSync(this.path, now, now);
    } catch {
      // The file was removed by hand. The holder continues its work.
    }
  }
}

const queues = new Map<string, Promise<unknown>>();

/** Runs one task at a time per lock file, across processes. */
export function withFileLock<T>(path: string, task: () => Promise<T>): Promise<T> {
  const before = queues.get(path) ?? Promise.resolve();
  const run = before.then(async () => {
    const lock = await takeInTurn(path);
    try {
      return await task();
    } finally {
      lock.release();
    }
  });
  const settled = run
    .catch(() => undefined)
    .then(() => {
      if (queues.get(path) === settled) queues.delete(path);
    });
  queues.set(path, settled);
  return run;
}

async function takeInTurn(path: string): Promise<FileLock> {
  try {
    const lock = await FileLock.take(path, { waitMs: WAIT_LIMIT_MS });
    if (lock instanceof FileLock) return lock;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EISDIR") throw error;
    throw new Error(`'${path}' is a directory where a lock file should be. Remove it.`, { cause: error });
  }
  throw new Error(`'${path}' has been locked for ${WAIT_LIMIT_MS / 1000} s`);
}

const held = new Set<FileLock>();
let heartbeat: NodeJS.Timeout | undefined;

function keep(lock: FileLock): void {
  held.add(lock);
  if (heartbeat) return;
  heartbeat = setInterval(() => {
    for (const each of held) each.touch();
  }, HEARTBEAT_MS);
  heartbeat.unref();
  process.once("exit", releaseAll);
}

function forget(lock: FileLock): void {
  held.delete(lock);
  if (held.size > 0) return;
  clearInterval(heartbeat);
  heartbeat = undefined;
  process.removeListener("exit", releaseAll);
}

/** Releases the locks of a process that exits without releasing them. */
function releaseAll(): void {
  for (const lock of held) lock.release();
}

async function create(path: string, id: string): Promise<boolean> {
  const holder: LockHolder = { pid: process.pid, host: hostname(), started: new Date().toISOString(), id };
  try {
    await writeFile(path, JSON.stringify({ ...holder, ...identity() }), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** The holder in a lock file; undefined if the file is incomplete or was removed. */
async function holderOf(path: string): Promise<LockHolder | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as LockHolder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EISDIR") throw error;
    return undefined;
  }
}

function readHolder(path: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as LockHolder;
  } catch {
    return undefined;
  }
}

/**
 * Removes a lock whose holder is gone. Only one process at a time does so, because a second one could remove the new lock
 * of the first.
 */
async function removeGone(path: string, silenceMs: number): Promise<void> {
  const guard = `${path}.takeover`;
  while (!(await create(guard, randomUUID()))) {
    if ((silentFor(guard) ?? 0) > GUARD_MS) await rm(guard, { force: true });
    await delay(RETRY_MS);
  }
  try {
    if (stateOf(await holderOf(path), path, silenceMs) === "gone") await rm(path, { force: true });
  } finally {
    await rm(guard, { force: true });
  }
}

/** The state of a holder: from the system if the process is visible, otherwise from the age of the file. */
function stateOf(
  holder: LockHolder | undefined,
  path: string,
  silenceMs: number,
): "alive" | "gone" | "unknown" {
  const silence = silentFor(path);
  // The file was removed: the next attempt takes the lock.
  if (silence === undefined) return "unknown";
  const afterSilence = (limit: number) => (silence > limit ? "gone" : "unknown");
  if (holder === undefined) return afterSilence(UNNAMED_MS);
  const { pid, host, boot, namespace, ticks } = holder;
  const own = identity();
  const isThisHost = host === hostname();
  const isThisBoot = boot === own.boot;
  if (isThisHost && holder.id === undefined) return isRunning(pid) ? "alive" : "gone";
  if (isThisHost && isThisBoot && namespace === own.namespace)
    return isRunning(pid) && startTicks(pid) === ticks ? "alive" : "gone";
  if (isThisBoot) return afterSilence(silenceMs);
  // The machine was restarted, so the process has ended.
  if (isThisHost) return "gone";
  return silence > REMOTE_SILENCE_MS ? "gone" : "alive";
}

/** Milliseconds since a lock was touched; undefined if it does not exist. */
function silentFor(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && Date.now() - found.mtimeMs;
}

let known: Pick<LockHolder, "boot" | "namespace" | "ticks"> | undefined;

/** The identity of this process besides its pid. Fields are undefined on systems without `/proc`. */
function identity(): Pick<LockHolder, "boot" | "namespace" | "ticks"> {
  known ??= {
    boot: orUndefined(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    namespace: orUndefined(() => readlinkSync("/proc/self/ns/pid")),
    ticks: startTicks(process.pid),
  };
  return known;
}

function orUndefined(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
