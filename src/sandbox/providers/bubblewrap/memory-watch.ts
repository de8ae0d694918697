import { readdir, readFile } from "node:fs/promises";

const INTERVAL_MS = 100;
const PAGE_BYTES = 4096;
/** More processes than any limit allows; a tree that grows while it is read must come to an end. */
const MAX_PROCESSES = 10_000;

/**
 * Looks every tenth of a second at what a process and all below it hold in memory, and tells once when that is too much:
 * limits of the kernel count each process for itself. Returns what ends the watch.
 */
export function watchMemory(root: number, limitBytes: number, onExceeded: () => void): () => void {
  let busy = false;
  let done = false;
  const timer = setInterval(async () => {
    if (busy || done) return;
    busy = true;
    const exceeded = await exceeds(root, limitBytes);
    busy = false;
    if (exceeded && !done) {
      stop();
      onExceeded();
    }
  }, INTERVAL_MS);
  const stop = () => {
    done = true;
    clearInterval(timer);
  };
  return stop;
}

/** The quick count takes shared pages for each process that shares them; only when it is too high is the true one made. */
async function exceeds(root: number, limitBytes: number): Promise<boolean> {
  const processes = await processTree(root);
  const quick = await sum(processes, residentBytes);
  return quick > limitBytes && (await sum(processes, proportionalBytes)) > limitBytes;
}

async function sum(processes: readonly number[], measure: (pid: number) => Promise<number>): Promise<number> {
  const sizes = await Promise.all(processes.map(measure));
  return sizes.reduce((total, size) => total + size, 0);
}

async function residentBytes(pid: number): Promise<number> {
  const [, pages = 0] = (await read(`/proc/${pid}/statm`)).split(" ").map(Number);
  return pages * PAGE_BYTES;
}

async function proportionalBytes(pid: number): Promise<number> {
  const rollup = await read(`/proc/${pid}/smaps_rollup`);
  const kibibytes = /^Pss:\s*(\d+) kB/m.exec(rollup)?.[1];
  return kibibytes === undefined ? residentBytes(pid) : Number(kibibytes) * 1024;
}

/** A process and all its descendants. */
export async function processTree(root: number): Promise<number[]> {
  const found = [root];
  for (const pid of found) {
    if (found.length > MAX_PROCESSES) break;
    found.push(...(await childrenOf(pid)));
  }
  return found;
}

/** Every thread has children of its own. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(gone([]));
  const lists = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

function read(file: string): Promise<string> {
  return readFile(file, "utf8").catch(gone(""));
}

/** Processes end while they are looked at. */
function gone<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return () => value;
}
