import { z } from "zod";
import { GymError } from "../../base/errors.ts";
import { suggestMisspelt } from "../../base/suggest.ts";
import { laxBool, laxFloat, laxInt } from "../../wire/schemas/lax.ts";
import type { ServerType } from "../definitions/definitions.ts";
import type { HostedInstance } from "./cohost.ts";

/** Values of `hosting`. */
export const HOSTING = ["cohosted", "process"] as const;
/** More processes than this on one machine are probably a typing mistake. */
const MAX_WORKERS = 1_024;

const aboveZero = (number: z.ZodType<number>) =>
  number.refine((value) => value > 0, { error: "must be more than 0" });

/**
 * Keys of a block that the host reads for every type of server. Null disables a limit; for other keys it means unset.
 */
const COMMON = {
  hosting: z.enum(HOSTING, { error: `must be one of ${HOSTING.join(", ")}` }),
  num_workers: laxInt().refine((value) => value >= 1 && value <= MAX_WORKERS, {
    error: `must be between 1 and ${MAX_WORKERS}`,
  }),
  max_body_mb: aboveZero(laxFloat()).nullable(),
};

const RESOURCES = {
  ...COMMON,
  session_ttl_seconds: aboveZero(laxFloat()).nullable(),
  max_sessions: aboveZero(laxInt()).nullable(),
  expose_tools_over_mcp: laxBool(),
};

function settingsOf(type: ServerType): Readonly<Record<string, z.ZodType>> {
  return type === "resources_servers" ? RESOURCES : COMMON;
}

/** Keys of a block that other components than its server read. */
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
  "verified_url",
  "allowed_agents",
  "allowed_model_types",
];

/** The keys of a block that apply to every server of a type. */
export function hostKeys(type: ServerType): string[] {
  return [...Object.keys(settingsOf(type)), ...OTHERS];
}

type Block = Readonly<Record<string, unknown>>;

/** The host's settings of a block, converted (`"64"` becomes a number), and their problems: `key: reason`. */
export function readHostSettings(
  type: ServerType,
  config: Block,
): { values: Record<string, unknown>; problems: string[] } {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [key, schema] of Object.entries(settingsOf(type))) {
    const given = config[key];
    const isLimit = schema.isNullable();
    if (given === undefined || (given === null && !isLimit)) continue;
    const { data, error } = schema.safeParse(given);
    if (error === undefined) values[key] = data;
    else
      problems.push(
        `${key}: ${reasonOf(error)}, not ${JSON.stringify(given)}${isLimit ? " (null: no limit)" : ""}`,
      );
  }
  return { values, problems };
}

/** A block with the host's settings converted; invalid values are an error that lists all of them. */
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

/** Reads a time limit of the config; null disables it. */
export function secondsOf(globalConfig: Block, key: string, preset: number): number | null {
  const { [key]: value = preset } = globalConfig;
  if (value === null || (typeof value === "number" && value > 0)) return value;
  throw new GymError(
    "SERVER_CONFIG",
    `${key} is ${JSON.stringify(value)}; it must be a number above 0, or null.`,
  );
}

/** Reads `allowed_hosts` of the config: additional host names under which servers may be called. */
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

/** A sentence for each key that is probably a misspelt host key; `own` are the keys of the server. */
export function* misspeltHostKeys(
  type: ServerType,
  config: Block,
  own: readonly string[] = [],
): Generator<string> {
  const known = hostKeys(type);
  for (const key of Object.keys(config)) {
    if (known.includes(key) || own.includes(key)) continue;
    const nearest = suggestMisspelt(key, known);
    // The singular is a separate key in several servers: `dataset` selects one.
    if (nearest !== undefined && nearest !== `${key}s`)
      yield `${key} has no effect unless the server reads it itself. Did you mean '${nearest}'?`;
  }
}

function reasonOf({ issues: [issue] }: z.ZodError): string {
  const rejected = issue?.code === "custom" ? issue.params?.["pydantic"] : undefined;
  if (typeof rejected !== "string") return issue?.message ?? "";
  if (rejected.startsWith("bool")) return "must be true or false";
  return rejected.startsWith("int") ? "must be a whole number" : "must be a number";
}

/** How an instance is hosted. */
export type Placement = "cohosted" | "process" | "workers" | "python";

/** Where an instance runs: in this process, unless its config, workers, packages or language require another. */
export function placementOf(instance: HostedInstance, globalConfig: Block): Placement {
  withHostSettings(instance, instance.config);
  if (instance.definition !== undefined) return "cohosted";
  if (instance.code.language === "python") return "python";
  if (workerCount(instance) > 1) return "workers";
  const wanted = instance.config["hosting"] ?? globalConfig["hosting"];
  if (wanted === undefined || wanted === null)
    return instance.code.hasOwnDependencies ? "process" : "cohosted";
  const known = HOSTING.find((each) => each === wanted);
  if (known !== undefined) return known;
  throw new GymError(
    "SERVER_HOSTING",
    `Server '${instance.name}': hosting is ${JSON.stringify(wanted)}; it must be one of ${HOSTING.join(", ")}.`,
  );
}

export function workerCount(instance: HostedInstance): number {
  const count = Number(instance.config["num_workers"] ?? 1);
  return Number.isInteger(count) && count > 0 ? count : 1;
}
