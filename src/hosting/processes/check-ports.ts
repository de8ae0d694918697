import { GymError } from "../../errors.ts";

interface Address {
  name: string;
  host: string;
  port: number;
}

const MAX_PORT = 65_535;
const EVERY_HOST = new Set(["0.0.0.0", "::", ""]);

/** Refuses conflicting addresses before anything starts; the system would only report a port in use. */
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
        `'${clash.name}' and '${name}' of this config both want port ${port}; give one of them another, or leave the port out to get a free one.`,
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
