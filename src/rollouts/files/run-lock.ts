import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { fileError, RolloutError } from "../errors.ts";

/** Says that somebody writes to an output, until it is released or its owner is gone. */
export class RunLock {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
    // A process that is told to end at once still lets go of what it holds.
    process.once("exit", this.release);
  }

  /** Takes the lock of an output; a second run on it is refused, a lock whose owner has died is taken over. */
  static take(output: string): RunLock {
    const path = `${output}.lock`;
    const own = JSON.stringify({ pid: process.pid, host: hostname(), started: new Date().toISOString() });
    for (let attempt = 0; ; attempt++) {
      try {
        const file = openSync(path, "wx");
        writeSync(file, own);
        closeSync(file);
        return new RunLock(path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST" || attempt > 0)
          throw fileError(error, path, "write");
      }
      const holder = holderOf(path);
      if (holder && isAlive(holder)) {
        throw new RolloutError(
          "ROLLOUT_LOCKED",
          `'${output}' is being written by process ${holder.pid} on ${holder.host} since ${holder.started}. ` +
            `Wait for it, choose another --output, or remove '${path}' if that run is gone.`,
        );
      }
      rmSync(path, { force: true });
    }
  }

  readonly release = (): void => {
    process.removeListener("exit", this.release);
    rmSync(this.#path, { force: true });
  };
}

interface Holder {
  pid: number;
  host: string;
  started: string;
}

function holderOf(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Holder;
  } catch {
    // Written half, or gone by now.
    return undefined;
  }
}

/** A process of another machine cannot be asked; it counts as alive. */
function isAlive({ pid, host }: Holder): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
