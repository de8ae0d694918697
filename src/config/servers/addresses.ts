import { createServer } from "node:net";
import { errorMessage } from "../../base/errors.ts";
import { ConfigError } from "../errors.ts";
import {
  type ConfigNode,
  DEFAULT_ORIGIN,
  type DictNode,
  isTruthyNode,
  positionOf,
  scalar,
  textOfNode,
} from "../node.ts";
import { nodeFromPlain } from "../plain-data.ts";
import { integerFrom } from "../schema-problems.ts";
import type { ServerBlock } from "./server-schema.ts";

/** Maximum number of ports to try for a server. */
const PORT_ATTEMPTS = 50;
/** The placeholder for a port that was not looked up. */
const OFFLINE_PORT = -1;

const LOOPBACK = "127.0.0.1";
export const HEAD_SERVER_PORT = 11000;

export interface NetworkDefaults {
  /** The host of servers that give none. */
  host: string;
  range: PortRange;
  /** Undefined when the head server's port is given as null. */
  headPort: number | undefined;
}

export interface PortRange {
  low: number;
  high: number;
}

/** The host of servers that give none. */
export async function defaultHost(
  useAbsoluteIp: boolean,
  configured: ConfigNode | undefined,
  offline: boolean,
): Promise<string> {
  if (useAbsoluteIp && !offline) return ownAddress();
  if (!isTruthyNode(configured)) return LOOPBACK;
  const text = textOfNode(configured);
  if (text !== undefined) return text;
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

/** Sets the host and port of every server, in config order. Returns the ports in use, starting with the head server's. */
export async function assignAddresses(
  servers: readonly ServerBlock[],
  { host, range, headPort }: NetworkDefaults,
  { offline = false, random = Math.random }: { offline?: boolean; random?: () => number },
): Promise<ConfigNode> {
  const ports: number[] = headPort === undefined ? [] : [headPort];
  const taken = new Set(ports);
  for (const { block } of servers) {
    if (!isTruthyNode(block.entries.get("host"))) block.entries.set("host", scalar(host, DEFAULT_ORIGIN));
    const given = givenPort(block);
    const port = given ?? (offline ? OFFLINE_PORT : await freePort(range, taken, random));
    if (given === undefined) block.entries.set("port", scalar(port, DEFAULT_ORIGIN));
    ports.push(port);
    taken.add(port);
  }
  return nodeFromPlain(ports, DEFAULT_ORIGIN);
}

function givenPort(block: DictNode): number | undefined {
  const port = integerFrom(block.entries.get("port"));
  return port === undefined || port === 0 ? undefined : port;
}

/** A random port of the range that is not taken and can be bound. A taken port moves on to the next free one. */
async function freePort(
  { low, high }: PortRange,
  taken: ReadonlySet<number>,
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
      `Ports already assigned to servers: ${[...taken].join(", ")}.`,
    { code: "CONFIG_NO_FREE_PORT" },
  );
}

/** Whether a port can be bound on all interfaces right now. */
function canBind(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "0.0.0.0", exclusive: true }, () => server.close(() => resolve(true)));
  });
}
