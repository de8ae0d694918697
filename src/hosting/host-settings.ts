import { nearestKey } from "../definitions/check-definition.ts";
import type { ServerType } from "../definitions/definitions.ts";
import { GymError } from "../errors.ts";
import {
  coerceBool,
  coerceFloat,
  coerceInt,
  isRefusal,
  type Refusal,
} from "../wire/schemas/coerce-scalar.ts";

/** Where a server may be told to run. */
export const HOSTING = ["cohosted", "process"] as const;
/** More processes than that on one machine are a slip of the finger. */
const MAX_WORKERS = 1_024;

/** A key of a server's block that the host reads, whatever the server is. */
interface Setting {
  read(value: unknown): unknown;
  /** Why a value that could be read cannot be used. */
  refuse?(value: never): string | undefined;
  /** Whether null has a meaning of its own. */
  nullLifts?: boolean;
  only?: ServerType;
}

const above = (limit: number) => (value: number) =>
  value > limit ? undefined : `must be more than ${limit}`;

const SETTINGS: Readonly<Record<string, Setting>> = {
  hosting: {
    read: (value) => value,
    refuse: (value: unknown) =>
      HOSTING.some((known) => known === value) ? undefined : `must be one of ${HOSTING.join(", ")}`,
  },
  num_workers: {
    read: coerceInt,
    refuse: (value: number) =>
      value >= 1 && value <= MAX_WORKERS ? undefined : `must be between 1 and ${MAX_WORKERS}`,
  },
  max_body_mb: { read: coerceFloat, refuse: above(0), nullLifts: true },
  session_ttl_seconds: { read: coerceFloat, refuse: above(0), nullLifts: true, only: "resources_servers" },
  max_sessions: { read: coerceInt, refuse: above(0), nullLifts: true, only: "resources_servers" },
  expose_tools_over_mcp: { read: coerceBool, only: "resources_servers" },
};

/** Keys of a block that others than its server read. */
const OTHERS = [
  "entrypoint",
  "host",
  "port",
  "domain",
  "datasets",
  "description",
  "capabilities",
  "value",
  "verified",
];

/** The keys of a block that mean something for every server of a type. */
export function hostKeys(type: ServerType): string[] {
  const settings = Object.keys(SETTINGS).filter((key) => (SETTINGS[key]?.only ?? type) === type);
  return [...settings, ...OTHERS];
}

type Block = Readonly<Record<string, unknown>>;

/** What the host reads of a block, as what it stands for (`"64"` is a number), and what is wrong with it: `key: reason`. */
export function readHostSettings(
  type: ServerType,
  config: Block,
): { values: Record<string, unknown>; problems: string[] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [key, { read, refuse, nullLifts, only }] of Object.entries(SETTINGS)) {
    const given = config[key];
    if (given === undefined || (only !== undefined && only !== type)) continue;
    if (given === null) {
      // What is null is not set, where null lifts no limit.
      if (nullLifts) values[key] = null;
      continue;
    }
    const value = read(given);
    const reason = isRefusal(value) ? inOurWords(value) : refuse?.(value as never);
    if (reason === undefined) values[key] = value;
    else
      problems.push(`${key}: ${reason}, not ${JSON.stringify(given)}${nullLifts ? " (null: no limit)" : ""}`);
  }
  return { values, problems };
}

/** A block with the host's settings read; values that cannot be used are an error that lists them all. */
export function withHostSettings<Config extends Block>(
  { name, type, implementation }: { name: string; type: ServerType; implementation: string },
  config: Config,
): Config {
  const { values, problems } = readHostSettings(type, config);
  if (problems.length === 0) return { ...config, ...values };
  const list = problems.map((problem) => `  - ${name}.${type}.${implementation}.${problem}`).join("\n");
  throw new GymError(
    "SERVER_CONFIG",
    `The config of server '${name}' has values that cannot be used:\n${list}`,
  );
}

/** Reads `allowed_hosts` of the config: host names under which servers may be called besides the usual ones. */
export function allowedHostsOf(globalConfig: Block): string[] {
  const given = globalConfig["allowed_hosts"] ?? [];
  const hosts: unknown[] = Array.isArray(given) ? given : [given];
  const bad = hosts.find((host) => typeof host !== "string" || !/^[^\s:/]+$/.test(host));
  if (bad === undefined) return hosts as string[];
  throw new GymError(
    "SERVER_CONFIG",
    `allowed_hosts must be a list of host names without scheme and port; ${JSON.stringify(bad)} is not one.`,
  );
}

/** A sentence for each key that nearly is one the host reads; `own` are the keys the server reads itself. */
export function* misspeltHostKeys(
  type: ServerType,
  config: Block,
  own: readonly string[] = [],
): Generator<string> {
  const known = hostKeys(type);
  for (const key of Object.keys(config)) {
    if (known.includes(key) || own.includes(key)) continue;
    const nearest = nearestKey(key, known);
    // The singular is a key of its own in several servers: `dataset` chooses one.
    if (nearest !== undefined && nearest !== `${key}s`)
      yield `${key} has no effect unless the server reads it itself. Did you mean '${nearest}'?`;
  }
}

function inOurWords({ refused }: Refusal): string {
  if (refused.startsWith("bool")) return "must be true or false";
  return refused.startsWith("int") ? "must be a whole number" : "must be a number";
}
