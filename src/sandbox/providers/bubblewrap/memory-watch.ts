import { readdir, readFile } from "node:fs/promises";

const INTERVAL_MS = 100;
/** More processes than any limit allows. Bounds the walk through a tree that grows meanwhile. */
const MAX_PROCESSES = 10_000;
/** The size of a socket's queue. The system call filter prevents commands from changing it. */
const QUEUE_SIZE = "/proc/sys/net/core/wmem_default";
/** So few sockets hold little memory; their lists are not read. */
const FEW_SOCKETS = 16;

interface WatchedProcesses {
  /** The outermost process. */
  root: number;
  /** Whether the innermost processes have their own network namespace, so that all its sockets are theirs. */
  ownNetwork: boolean;
}

/**
 * Measures the memory of a process and its descendants every 100 ms and calls back once if it exceeds the limit. The resource
 * limits of the kernel apply to each process separately. Returns a function that ends the watch.
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
  // The watched process keeps this program alive, unless it runs in the background.
  timer.unref();
  const stop = () => {
    done = true;
    clearInterval(timer);
  };
  return stop;
}

/** The quick sum counts shared pages once per process. The exact sum is only computed if the quick one exceeds the limit. */
async function exceeds({ root, ownNetwork }: WatchedProcesses, limitBytes: number): Promise<boolean> {
  const processes = await pidsOfTree(root);
  const innermost = processes.at(-1);
  const sockets = ownNetwork && innermost !== undefined ? await socketBytes(innermost) : 0;
  const quick = sockets + (await sum(processes, residentBytes));
  return quick > limitBytes && sockets + (await sum(processes, proportionalBytes)) > limitBytes;
}

async function sum(processes: readonly number[], measure: (pid: number) => Promise<number>): Promise<number> {
  const sizes = await Promise.all(processes.map(measure));
  return sizes.reduce((total, size) => total + size, 0);
}

/** Pages in memory and their page tables: an empty large mapping still has page tables. */
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

/** The bytes of a line such as `VmRSS:	  123 kB`. */
function kibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(text)?.[1] ?? 0) * 1024;
}

/**
 * An upper bound of the bytes in the sockets of a process's network. The kernel reports the queues of TCP and UDP, but not of
 * Unix sockets: a full queue accepts one more message of its own size.
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

/** Sums the hexadecimal columns `tx_queue:rx_queue` of a file such as /proc/net/tcp. */
function queuedBytes(list: string): number {
  const queues = list.matchAll(/ ([0-9A-F]{8}):([0-9A-F]{8}) [0-9A-F]{2}:/g);
  return Array.from(
    queues,
    ([, sent = "0", received = "0"]) => Number.parseInt(sent, 16) + Number.parseInt(received, 16),
  ).reduce((total, bytes) => total + bytes, 0);
}

/** A process and all its descendants. */
export async function pidsOfTree(root: number): Promise<number[]> {
  const found = [root];
  for (const pid of found) {
    if (found.length > MAX_PROCESSES) break;
    found.push(...(await childrenOf(pid)));
  }
  return found;
}

/** The kernel lists children per thread. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

/** A process may end while its files are read. */
function read(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}
