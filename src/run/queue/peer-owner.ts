import { readFile } from "node:fs/promises";
import { isIPv4, type Socket } from "node:net";
import { endianness } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** The sockets of this machine, with their users (Linux). */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
/** How long the other end may take to accept the connection. */
const ACCEPT_MS = 2_000;
const READ_PAUSE_MS = 5;

/** Whether the other end of a connection is on this machine. */
export function isLocalPeer({ localAddress, remoteAddress = "" }: Socket): boolean {
  return remoteAddress === localAddress || /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress);
}

/**
 * The uid of the process at the other end of a connection on this machine; undefined if it cannot be told. It belongs to the
 * connection, not to the port, so a process that takes over the port later cannot be mistaken for this one.
 */
export async function ownerOfPeer(socket: Socket): Promise<number | undefined> {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  const theirs = namesOf(remoteAddress, remotePort);
  const ours = namesOf(localAddress, localPort);
  for (const start = performance.now(); performance.now() - start < ACCEPT_MS; await sleep(READ_PAUSE_MS)) {
    const tables = await Promise.all(TABLES.map((table) => readFile(table, "latin1").catch(() => "")));
    if (tables.every((table) => table === "")) return undefined;
    for (const row of tables.join("").split("\n")) {
      const [, local = "", remote = "", , , , , uid, , inode] = row.trim().split(/\s+/);
      // A connection that is not yet accepted, or is closed, has no user.
      if (theirs.includes(local) && ours.includes(remote) && inode !== "0") return Number(uid);
    }
  }
  return undefined;
}

/** How the tables write an address, also that of an IPv4 connection to a socket that listens for both versions. */
function namesOf(address = "", port = 0): string[] {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/, "");
  const end = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  if (!isIPv4(mapped)) return [hexWords(bytesOfIPv6(address)) + end];
  const bytes = mapped.split(".").map(Number);
  return [hexWords(bytes) + end, hexWords([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, ...bytes]) + end];
}

function bytesOfIPv6(address: string): number[] {
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const groups = (text: string) =>
    text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16));
  const [left, right] = [groups(head), groups(tail ?? "")];
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => 0);
  return [...left, ...zeros, ...right].flatMap((group) => [group >> 8, group & 255]);
}

/** Each four bytes are a number in the byte order of the machine. */
function hexWords(bytes: readonly number[]): string {
  const words: string[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.slice(at, at + 4).map((byte) => byte.toString(16).padStart(2, "0"));
    words.push((endianness() === "LE" ? word.reverse() : word).join(""));
  }
  return words.join("").toUpperCase();
}
