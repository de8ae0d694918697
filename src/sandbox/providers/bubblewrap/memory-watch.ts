import { readdir, readFile } from "node:fs/promises";

const INTERVAL_MS = 100;
/** More processes than any limit allows; a tree that grows while it is read must come to an end. */
const MAX_PROCESSES = 10_000;
/** The size of a socket's queue, which the system call filter keeps commands from changing. */
const QUEUE_SIZE = "/proc/sys/net/core/wmem_default";
/** Fewer sockets hold little, whatever their kind; their lists are not read. */
const FEW_SOCKETS = 16;

export interface WatchedProcesses {
  /** The outermost process. */
  root: number;
  /** Whether the innermost ones have a network of their own, so that its sockets are theirs. */
  ownNetwork: boolean;
}

/**
 * Looks every tenth of a second at what a process and all below it hold in memory, and calls back once when that is too much:
 * limits of the kernel count each process for itself. Returns a function that ends the watch.
 */
export function watchMemory(
  watched: WatchedProcesses,
  limitBytes: number,
  onExceeded: () => void,
): () => void {
  let busy = false;
  let done = false;
  const timer = setInterval(async () => {
    if (busy || done) return;
    busy = true;
    const exceeded = await exceeds(watched, limitBytes);
    busy = false;
    if (exceeded && !done) {
      stop();
      onExceeded();
    }
  }, INTERVAL_MS);
  // The process that is watched keeps the program alive, unless it runs in the background.
  timer.unref();
  const stop = () => {
    done = true;
    clearInterval(timer);
  };
  return stop;
}

/** The quick count takes shared pages for each process that shares them; only when it is too high is the true one made. */
async function exceeds({ root, ownNetwork }: WatchedProcesses, limitBytes: number): Promise<boolean> {
  const processes = await processTree(root);
  const innermost = processes.at(-1);
  const sockets = ownNetwork && innermost !== undefined ? await socketBytes(innermost) : 0;
  const quick = sockets + (await sum(processes, residentBytes));
  return quick > limitBytes && sockets + (await sum(processes, proportionalBytes)) > limitBytes;
}

async function sum(processes: readonly number[], measure: (pid: number) => Promise<number>): Promise<number> {
  const sizes = await Promise.all(processes.map(measure));
  return sizes.reduce((total, size) => total + size, 0);
}

/** Pages in memory, and the tables that describe them: a large mapping of nothing has tables only. */
async function residentBytes(pid: number): Promise<number> {
  const status = await read(`/proc/${pid}/status`);
  return kibibytes(status, "VmRSS") + kibibytes(status, "VmPTE");
}

async function proportionalBytes(pid: number): Promise<number> {
  const [rollup, status] = await Promise.all([
    read(`/proc/${pid}/smaps_rollup`),
    read(`/proc/${pid}/status`),
  ]);
  const resident = rollup === "" ? kibibytes(status, "VmRSS") : kibibytes(rollup, "Pss");
  return resident + kibibytes(status, "VmPTE");
}

/** `VmRSS:	  123 kB` in bytes. */
function kibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;
}

/**
 * What the sockets of a process's network may hold: queues of TCP and UDP as they are. The kernel reports no sizes for Unix
 * sockets; a full queue takes one more message of its own size.
 */
async function socketBytes(pid: number): Promise<number> {
  const summary = await read(`/proc/${pid}/net/sockstat`);
  if (Number(/^sockets: used (\d+)/m.exec(summary)?.[1] ?? 0) <= FEW_SOCKETS) return 0;
  const [queueSize = "", unix = "", ...internet] = await Promise.all([
    read(QUEUE_SIZE),
    ...["unix", "tcp", "tcp6", "udp", "udp6"].map((name) => read(`/proc/${pid}/net/${name}`)),
  ]);
  const unixSockets = Math.max(0, unix.split("\n").length - 2);
  return unixSockets * 2 * Number(queueSize) + internet.reduce((total, list) => total + queuedBytes(list), 0);
}

/** `tx_queue:rx_queue`, both hexadecimal, in /proc/net/tcp and its like. */
function queuedBytes(list: string): number {
  const queues = list.matchAll(/ ([0-9A-F]{8}):([0-9A-F]{8}) [0-9A-F]{2}:/g);
  return Array.from(
    queues,
    ([, sent = "0", received = "0"]) => Number.parseInt(sent, 16) + Number.parseInt(received, 16),
  ).reduce((total, bytes) => total + bytes, 0);
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
