import { createServer } from "node:net";
import { errorMessage } from "../../errors.ts";
import { ConfigError } from "../errors.ts";
import { type ConfigNode, type DictNode, isTruthy, list, type Origin, positionOf, scalar } from "../node.ts";
import { integerFrom } from "../schema-problems.ts";
import type { ServerBlock } from "./server-schema.ts";

/** How many ports are tried for one server. */
const PORT_ATTEMPTS = 50;
/** The placeholder for a port that was not looked up. */
const OFFLINE_PORT = -1;

const LOOPBACK = "127.0.0.1";
export const HEAD_SERVER_PORT = 11000;

export interface AddressOptions {
  /** No probing of ports, no lookup of host names. */
  offline: boolean;
  random?: () => number;
  canBind?: (port: number) => Promise<boolean>;
}

/** The host of servers that give none. */
export async function defaultHost(
  useAbsoluteIp: boolean,
  configured: ConfigNode | undefined,
  offline: boolean,
): Promise<string> {
  if (useAbsoluteIp && !offline) return ownAddress();
  if (!isTruthy(configured)) return LOOPBACK;
  if (configured?.kind === "scalar" && typeof configured.value === "string") return configured.value;
  throw new ConfigError("default_host must be a host name or an address.", {
    position: positionOf(configured),
  });
}

async function ownAddress(): Promise<string> {
  const [{ lookup }, { hostname }] = await Promise.all([import("node:dns/promises"), import("node:os")]);
  try {
    return (await lookup(hostname(), { family: 4 })).address;
  } catch (error) {
    throw new ConfigError(
      `use_absolute_ip is set, but the host name '${hostname()}' has no address: ${errorMessage(error)}`,
      { code: "CONFIG_HOST_LOOKUP", cause: error },
    );
  }
}

export interface PortRange {
  low: number;
  high: number;
}

/** Gives every server a host and a port, in config order; returns the ports in use, the head server's first. */
export async function assignAddresses(
  servers: readonly ServerBlock[],
  host: string,
  range: PortRange,
  headPort: number | undefined,
  origin: Origin,
  options: AddressOptions,
): Promise<ConfigNode> {
  const ports: number[] = headPort === undefined ? [] : [headPort];
  const taken = new Set(ports);
  const canBind = options.canBind ?? canBindPort;
  for (const { block } of servers) {
    if (!isTruthy(block.entries.get("host"))) block.entries.set("host", scalar(host, origin));
    const given = givenPort(block);
    const port =
      given ??
      (options.offline ? OFFLINE_PORT : await freePort(range, taken, canBind, options.random ?? Math.random));
    if (given === undefined) block.entries.set("port", scalar(port, origin));
    ports.push(port);
    taken.add(port);
  }
  return list(
    origin,
    ports.map((port) => scalar(port, origin)),
  );
}

function givenPort(block: DictNode): number | undefined {
  const port = integerFrom(block.entries.get("port"));
  return port === undefined || port === 0 ? undefined : port;
}

/** A random port of the range that is not taken and can be bound; from a taken one the next free one is used. */
async function freePort(
  { low, high }: PortRange,
  taken: ReadonlySet<number>,
  canBind: (port: number) => Promise<boolean>,
  random: () => number,
): Promise<number> {
  const size = high - low + 1;
  const tried = new Set(taken);
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
    let offset = Math.floor(random() * size);
    for (let step = 0; step < size && tried.has(low + offset); step++) offset = (offset + 1) % size;
    const port = low + offset;
    if (tried.has(port)) break;
    if (await canBind(port)) return port;
    tried.add(port);
  }
  throw new ConfigError(
    `No free port found between ${low} and ${high} in ${PORT_ATTEMPTS} attempts. ` +
      `Ports already given to servers: ${[...taken].join(", ")}.`,
    { code: "CONFIG_NO_FREE_PORT" },
  );
}

/** Whether a port can be bound on all interfaces right now. */
function canBindPort(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "0.0.0.0", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
