import { z } from "zod";
import type { Logger } from "../../../base/door.ts";
import { GymError } from "../../../base/errors.ts";
import { suggest } from "../../../base/suggest.ts";
import { schemaKeys, unknownKeys } from "../../definitions/check-definition.ts";
import type { ServerDefinition } from "../../definitions/definitions.ts";
import { hostKeys, misspeltHostKeys, withHostSettings } from "../host-settings.ts";

/** A server's config block and its names. */
export interface ConfigSource {
  name: string;
  implementation: string;
  config: Record<string, unknown>;
  log: Logger;
}

/** A config that its server's schema rejects. */
export class ConfigMisfit extends GymError {
  /** Whether it only lacks values, which another config or the command line may set. */
  readonly isIncomplete: boolean;

  constructor(isIncomplete: boolean, message: string) {
    super("SERVER_CONFIG", message);
    this.isIncomplete = isIncomplete;
  }
}

/** Keys of the schema as parsed, others unchanged, because the host reads keys that are not in the schema. */
export function readConfig(
  definition: ServerDefinition,
  { name, config: given, implementation, log }: ConfigSource,
): unknown {
  const schema: z.ZodType | undefined = definition.options.config;
  const { type } = definition;
  const config = withHostSettings({ name, type, implementation }, given);
  const block = `${name}.${type}.${implementation}`;
  const declared = schema ?? z.object({});
  const warnings = schemaKeys(declared)
    ? unknownKeys(declared, config, hostKeys(type))
    : misspeltHostKeys(type, config);
  for (const warning of warnings) {
    // A misspelt limit of an environment server would be ignored silently.
    if (type === "environment_servers") throw new GymError("SERVER_CONFIG", `${block}.${warning}`);
    log.warn(`${block}.${warning}`);
  }
  if (!schema) return config;
  const result = schema.safeParse(config);
  if (result.success) return { ...config, ...(result.data as object) };
  const problems = result.error.issues.map(
    (issue) => `  - ${[block, ...issue.path].join(".")}: ${problemOf(issue, config)}`,
  );
  throw new ConfigMisfit(
    result.error.issues.every(
      ({ path: [key] }) => key !== undefined && (config[String(key)] ?? null) === null,
    ),
    `The config of server '${name}' does not fit its schema:\n${problems.join("\n")}\n` +
      "Set them in a config file, in env.yaml, or as ++<key>=<value>.",
  );
}

function problemOf(issue: z.core.$ZodIssue, config: Record<string, unknown>): string {
  const [key] = issue.path;
  if (key !== undefined && config[String(key)] === undefined) return "is required";
  if (issue.code !== "invalid_value" || issue.path.length !== 1) return issue.message;
  const nearest = suggest(String(config[String(key)]), issue.values.map(String));
  return nearest === undefined ? issue.message : `${issue.message}. Did you mean '${nearest}'?`;
}
