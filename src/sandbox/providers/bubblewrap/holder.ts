import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { Deadline } from "../../../calls/deadline.ts";
import { errorMessage } from "../../../errors.ts";
import { SandboxCreateError } from "../../errors.ts";
import { coverInherited } from "../../inherited-descriptors.ts";
import { killGroup } from "../../run-process.ts";
import type { BubblewrapPrograms } from "./programs.ts";

const START_TIMEOUT_MS = 30_000;
const MAX_MESSAGE_BYTES = 16 * 1024;
/** Fills the store by instructions of three words: kind, path below the store, value. Then it waits to be left alone. */
const SCRIPT = `set -e
cd "$1"; shift
umask 022
while [ $# -gt 0 ]; do
  mkdir -p -- "./$(dirname -- "$2")"
  case $1 in
    directory) mkdir -p -- "./$2" ;;
    text) printf %s "$3" > "./$2" ;;
    copy) cp -R -- "$3" "./$2" ;;
  esac
  shift 3
done
echo ready
exec cat > /dev/null`;

/** One thing to put into the store of a new sandbox. */
export type StoreEntry =
  | { kind: "directory"; path: string }
  | { kind: "text" | "copy"; path: string; value: string };

export interface HolderRequest {
  programs: BubblewrapPrograms;
  uid: number | undefined;
  diskBytes: number;
  entries: readonly StoreEntry[];
  readyTimeoutMs?: number | undefined;
  signal: AbortSignal | undefined;
}

/**
 * Keeps the files of one sandbox: a process in a mount namespace of its own, in which a file system in memory, with a size
 * that cannot be exceeded, lies over `store`. Commands enter that namespace first, so that they find it there; nobody else
 * does. It ends with this process, or when `close` is called, and the files with it.
 */
export class Holder {
  readonly pid: number;
  readonly store: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, pid: number, store: string) {
    this.#child = child;
    this.pid = pid;
    this.store = store;
  }

  static async start(request: HolderRequest): Promise<Holder> {
    const store = await mkdtemp(path.join(tmpdir(), "nemo-gym-sandbox-"));
    let child: ChildProcess | undefined;
    const deadline = new Deadline(request.readyTimeoutMs ?? START_TIMEOUT_MS, request.signal);
    try {
      if (request.uid !== undefined) await chown(store, request.uid, request.uid);
      child = spawnHolder(request, store);
      const pid = await started(child, deadline.signal);
      return new Holder(child, pid, store);
    } catch (error) {
      if (child !== undefined) killGroup(child);
      await rm(store, { recursive: true, force: true });
      request.signal?.throwIfAborted();
      throw new SandboxCreateError(`bubblewrap could not set up a sandbox: ${errorMessage(error)}`, {
        cause: error,
      });
    } finally {
      deadline.clear();
    }
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async close(): Promise<void> {
    if (this.alive) {
      const ended = once(this.#child, "exit");
      killGroup(this.#child);
      await ended;
    }
    // Only the empty directory under the file system in memory is left.
    await rm(this.store, { recursive: true, force: true });
  }
}

function spawnHolder({ programs, uid, diskBytes, entries }: HolderRequest, store: string): ChildProcess {
  const options = ["--unshare-user", "--die-with-parent", "--info-fd", "4", "--dev-bind", "/", "/"];
  const size = ["--size", String(diskBytes), "--perms", "0700", "--tmpfs", store];
  const words = entries.flatMap((entry) => [entry.kind, entry.path, "value" in entry ? entry.value : ""]);
  const child = spawn(
    programs.bwrap,
    [...options, ...size, "--", "/bin/sh", "-c", SCRIPT, "sh", store, ...words],
    {
      detached: true,
      env: { PATH: process.env["PATH"] },
      ...(uid !== undefined && { uid, gid: uid }),
      stdio: coverInherited(["pipe", "pipe", "pipe", "ignore", "pipe"]),
    },
  );
  // A sandbox nobody stopped must not keep the program alive; its input ends with the program and it follows.
  child.unref();
  for (const stream of child.stdio) (stream as { unref?: () => void } | null)?.unref?.();
  return child;
}

async function started(child: ChildProcess, signal: AbortSignal): Promise<number> {
  let info = "";
  let message = "";
  (child.stdio[4] as Readable).on("data", (chunk: Buffer) => {
    info += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    if (message.length < MAX_MESSAGE_BYTES) message += chunk.toString();
  });
  const ready = child.stdout && once(child.stdout, "data", { signal });
  const keepAwake = setInterval(() => undefined, START_TIMEOUT_MS);
  try {
    await Promise.race([
      ready,
      once(child, "close", { signal }).then(([code]) => {
        throw new Error(message.trim() || `it ended with code ${code}`);
      }),
    ]);
  } finally {
    clearInterval(keepAwake);
  }
  return (JSON.parse(info) as { "child-pid": number })["child-pid"];
}
