import { readdirSync, readlinkSync } from "node:fs";
import { GymError } from "../../../base/errors.ts";
import { procText } from "./process-tree.ts";

interface Address {
  name: string;
  host: string;
  port: number;
}

const MAX_PORT = 65_535;
const EVERY_HOST = new Set(["0.0.0.0", "::", ""]);

/** Rejects conflicting addresses before anything starts; the system would only report a port in use. */
export function checkPorts(
  servers: readonly Address[],
  head: { host: string; port: number } | undefined,
): void {
  const addresses = [...(head ? [{ name: "head_server", ...head }] : []), ...servers];
  const byPort = new Map<number, Address[]>();
  for (const address of addresses) {
    const { name, port } = address;
    if (!Number.isInteger(port) || port < 1 || port > MAX_PORT)
      throw new GymError(
        "SERVER_LISTEN",
        `The port of '${name}' is ${port}; it must be a number from 1 to ${MAX_PORT}.`,
      );
    const before = byPort.get(port) ?? [];
    const clash = before.find(({ host }) => overlap(host, address.host));
    if (clash)
      throw new GymError(
        "SERVER_LISTEN",
        `'${clash.name}' and '${name}' of this config both use port ${port}; set another port for one of them, or omit the port to get a free one.`,
      );
    byPort.set(port, [...before, address]);
  }
}

function overlap(one: string, other: string): boolean {
  return plain(one) === plain(other) || EVERY_HOST.has(one) || EVERY_HOST.has(other);
}

function plain(host: string): string {
  return host === "localhost" ? "127.0.0.1" : host;
}

/** Adds the process that holds the port to the error. */
export function explainTaken(error: unknown, port: number | undefined): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (port === undefined || !error.message.includes("the port is in use")) return error;
  const holder = portHolder(port);
  const remedy = error.message.includes("'head_server'")
    ? " Another run may be active (gym env status); choose another port with ++head_server.port=N."
    : "";
  return new GymError(
    "SERVER_LISTEN",
    `${error.message}${holder ? ` It is used by ${holder}.` : ""}${remedy}`,
    {
      cause: error,
    },
  );
}

const LISTENING = "0A";

/**
 * Names the process that listens on a port: `process 4711 (node gym env start)`. Undefined if the system does not
 * report it.
 */
export function portHolder(port: number): string | undefined {
  const pid = listeningProcess(port);
  return pid === undefined ? undefined : describe(String(pid));
}

/** The pid of the process that listens on a port; undefined if the system does not report it. */
export function listeningProcess(port: number): number | undefined {
  const inode = listeningInode(port);
  if (!inode) return undefined;
  for (const pid of numericEntries("/proc")) {
    for (const descriptor of numericEntries(`/proc/${pid}/fd`)) {
      try {
        if (readlinkSync(`/proc/${pid}/fd/${descriptor}`) === `socket:[${inode}]`) return Number(pid);
      } catch {
        // The descriptor or the process no longer exists.
      }
    }
  }
  return undefined;
}

function listeningInode(port: number): string | undefined {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of procText(table).split("\n").slice(1)) {
      const fields = line.trim().split(/\s+/);
      if (fields[3] === LISTENING && fields[1]?.endsWith(`:${wanted}`)) return fields[9];
    }
  }
  return undefined;
}

function describe(pid: string): string {
  const command = procText(`/proc/${pid}/cmdline`).split("\0").filter(Boolean).join(" ").slice(0, 120);
  return `process ${pid} (${command || procText(`/proc/${pid}/comm`).trim() || "unknown"})`;
}

function numericEntries(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
