import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LISTENING = "0A";

/** Names the process that listens on a port: `process 4711 (node gym env start)`. Undefined where the system does not say. */
export function portHolder(port: number): string | undefined {
  const pid = listeningProcess(port);
  return pid === undefined ? undefined : describe(String(pid));
}

/** The pid of the process that listens on a port; undefined where the system does not say. */
export function listeningProcess(port: number): number | undefined {
  const inode = listeningInode(port);
  if (!inode) return undefined;
  for (const pid of numericEntries("/proc")) {
    for (const descriptor of numericEntries(`/proc/${pid}/fd`)) {
      try {
        if (readlinkSync(`/proc/${pid}/fd/${descriptor}`) === `socket:[${inode}]`) return Number(pid);
      } catch {
        // The descriptor or the process is gone by now.
      }
    }
  }
  return undefined;
}

function listeningInode(port: number): string | undefined {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of read(table).split("\n").slice(1)) {
      const fields = line.trim().split(/\s+/);
      if (fields[3] === LISTENING && fields[1]?.endsWith(`:${wanted}`)) return fields[9];
    }
  }
  return undefined;
}

function describe(pid: string): string {
  const command = read(`/proc/${pid}/cmdline`).split("\0").filter(Boolean).join(" ").slice(0, 120);
  return `process ${pid} (${command || read(`/proc/${pid}/comm`).trim() || "unknown"})`;
}

function numericEntries(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
