import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync, rmSync, statSync, utimesSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning, startTicks } from "./process-identity.ts";

/** A holder touches its lock this often. */
const HEARTBEAT_MS = 2_000;
/** A holder whose process cannot be looked up (another container) is gone when its lock is not touched for this long. */
const SILENCE_MS = 7_000;
/** The same on another machine, whose file times may arrive late. */
const REMOTE_SILENCE_MS = 120_000;
/** Holders write their name at once. A file without one was left by a Python writer, which locks it and never removes it. */
const UNNAMED_MS = 2_000;
/** A takeover takes milliseconds. A guard as old as this was left by a process that was killed. */
const GUARD_MS = 10_000;
const RETRY_MS = 5;
/** Work in `withFileLock` takes milliseconds. Waiting longer means that the holder hangs. */
const WAIT_LIMIT_MS = 10_000;

/** The process that holds a lock, as its file names it. */
export interface LockHolder {
  pid: number;
  host: string;
  started: string;
  /** Differs for every lock. Older versions wrote none of the following. */
  id?: string;
  /** Boot of the machine, pid namespace and start time of the process: together with the pid they name one process. */
  boot?: string | undefined;
  namespace?: string | undefined;
  ticks?: string | undefined;
}

const UNKNOWN_HOLDER: LockHolder = { pid: 0, host: "an unknown host", started: "an unknown time" };

export interface LockOptions {
  /** How long to wait for a holder that is alive. Default: 0. */
  waitMs?: number;
  /** When a holder that cannot be looked up counts as gone. Default: 7000. */
  silenceMs?: number;
}

/** A file that names the process which holds it, until it is released or that process is gone. */
export class FileLock {
  readonly path: string;
  readonly #id: string;

  private constructor(path: string, id: string) {
    this.path = path;
    this.#id = id;
  }

  /** Takes a lock, also that of a process that is gone. Returns the holder where another process keeps it. */
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
      // The file was removed by hand; the work goes on.
    }
  }
}

const queues = new Map<string, Promise<unknown>>();

/** Runs one task at a time per lock file, in this process and in others. */
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
    throw new Error(`'${path}' is a directory where a lock file should be. Move it away.`, { cause: error });
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

/** A process that ends at once still releases its locks. */
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

/** The holder that the file names; undefined where it is half written, or gone by now. */
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

/** Removes a lock whose holder is gone, one process at a time: otherwise the second one would remove the lock of the first. */
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

/** Asks the system about a process that it can see. The age of the file decides about others. */
function stateOf(
  holder: LockHolder | undefined,
  path: string,
  silenceMs: number,
): "alive" | "gone" | "unknown" {
  const silence = silentFor(path);
  // The file is gone by now: the next attempt takes it.
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
  // The machine was started again: nothing of before runs on.
  if (isThisHost) return "gone";
  return silence > REMOTE_SILENCE_MS ? "gone" : "alive";
}

/** Milliseconds since a lock was touched; undefined where there is none. */
function silentFor(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && Date.now() - found.mtimeMs;
}

let known: Pick<LockHolder, "boot" | "namespace" | "ticks"> | undefined;

/** What names this process besides its pid; undefined where the system does not say, as on macOS and Windows. */
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
