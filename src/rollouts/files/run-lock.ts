import { randomUUID } from "node:crypto";
import {
  closeSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { isRunning, startTicks } from "../../files/process-identity.ts";
import { fileError, RolloutError } from "../errors.ts";

/** A holder touches its lock this often. */
const HEARTBEAT_MS = 2_000;
/** A holder whose process cannot be looked up (another container) is gone when its lock is not touched for this long. */
const SILENCE_MS = 7_000;
/** The same on another machine, whose file times may arrive late. */
const REMOTE_SILENCE_MS = 120_000;
/** A takeover takes milliseconds; a guard as old as this was left by a process that was killed. */
const GUARD_MS = 10_000;
const GUARD_PAUSE_MS = 50;

interface Holder {
  pid: number;
  host: string;
  started: string;
  /** Differs for every lock; older versions wrote none of the following. */
  id?: string;
  /** Boot of the machine, pid namespace and start time of the process: together with the pid they name one process. */
  boot?: string | undefined;
  namespace?: string | undefined;
  ticks?: string | undefined;
}

/** Marks an output as being written, until it is released or its owner is gone. */
export class RunLock {
  readonly #path: string;
  readonly #id: string;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string, id: string) {
    this.#path = path;
    this.#id = id;
    this.#heartbeat = setInterval(() => this.#touch(), HEARTBEAT_MS);
    this.#heartbeat.unref();
    // A process that ends at once still releases its lock.
    process.once("exit", this.release);
  }

  /** Takes the lock of an output. A second run on it is refused; the lock of an owner that is gone is taken over. */
  static async take(output: string, options: { silenceMs?: number } = {}): Promise<RunLock> {
    const path = `${output}.lock`;
    const own = ownHolder();
    for (;;) {
      if (create(path, own)) return new RunLock(path, own.id);
      const holder = holderOf(path);
      if (holder !== undefined && (await isAlive(holder, path, options.silenceMs ?? SILENCE_MS))) {
        throw new RolloutError(
          "ROLLOUT_LOCKED",
          `'${output}' is being written by process ${holder.pid} on ${holder.host} since ${holder.started}. ` +
            `Wait for it, choose another --output, or remove '${path}' if that run is gone.`,
        );
      }
      await removeStale(path, holder);
    }
  }

  readonly release = (): void => {
    clearInterval(this.#heartbeat);
    process.removeListener("exit", this.release);
    if (holderOf(this.#path)?.id === this.#id) rmSync(this.#path, { force: true });
  };

  #touch(): void {
    const now = new Date();
    try {
      utimesSync(this.#path, now, now);
    } catch {
      // The file was removed by hand; the run goes on.
    }
  }
}

function ownHolder(): Holder & { id: string } {
  return {
    pid: process.pid,
    host: hostname(),
    started: new Date().toISOString(),
    id: randomUUID(),
    boot: bootId(),
    namespace: pidNamespace(),
    ticks: startTicks(process.pid),
  };
}

function create(path: string, own: Holder): boolean {
  try {
    const file = openSync(path, "wx");
    writeSync(file, JSON.stringify(own));
    closeSync(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw fileError(error, path, "write");
  }
}

function holderOf(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EISDIR") throw fileError(error, path, "write");
    // Half written, or gone by now.
    return undefined;
  }
}

/** Removes a lock whose owner is gone, one process at a time: otherwise the second one would remove the lock of the first. */
async function removeStale(path: string, stale: Holder | undefined): Promise<void> {
  const guard = `${path}.takeover`;
  while (!create(guard, ownHolder())) {
    const age = Date.now() - (statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > GUARD_MS) rmSync(guard, { force: true });
    await delay(GUARD_PAUSE_MS);
  }
  try {
    const current = holderOf(path);
    const isSame = current?.id === stale?.id && current?.started === stale?.started;
    if (isSame) rmSync(path, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

/** Asks the system about a process that it can see, and otherwise waits for a sign of life in the lock. */
async function isAlive(holder: Holder, path: string, silenceMs: number): Promise<boolean> {
  const { pid, host, boot, namespace, ticks } = holder;
  const isHere = host === hostname() && boot === bootId() && namespace === pidNamespace();
  if (holder.id === undefined && host === hostname()) return isRunning(pid);
  if (isHere) return isRunning(pid) && startTicks(pid) === ticks;
  if (boot !== bootId() && host !== hostname()) return silentFor(path) < REMOTE_SILENCE_MS;
  // The machine was started again: nothing of before runs on.
  if (boot !== bootId()) return false;
  for (let waited = 0; waited < silenceMs; waited += HEARTBEAT_MS / 2) {
    if (silentFor(path) > silenceMs) return false;
    await delay(HEARTBEAT_MS / 2);
  }
  return silentFor(path) < silenceMs;
}

function silentFor(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? Number.POSITIVE_INFINITY : Date.now() - found.mtimeMs;
}

/** Undefined where the system does not say, as on macOS and Windows. */
function bootId(): string | undefined {
  return read("/proc/sys/kernel/random/boot_id");
}

function pidNamespace(): string | undefined {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return undefined;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}
