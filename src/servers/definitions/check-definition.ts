import { z } from "zod";
import type { Logger } from "../../base/door.ts";
import { GymError } from "../../base/errors.ts";
import { suggest, suggestMisspelt } from "../../base/suggest.ts";
import type { AgentDefinition } from "./define-agent.ts";
import type { EnvironmentServerDefinition } from "./define-environment.ts";
import type { ModelDefinition } from "./define-model.ts";
import type { GymnasiumServerDefinition, ResourcesServerDefinition } from "./define-resources.ts";
import type { ServerDefinition } from "./definitions.ts";

/** Whether an option is optional, or a function that every server of the kind needs. */
type Need = "needed" | "optional";
type Table<Options> = Record<keyof Options, Need>;

const COMMON = { name: "optional", config: "optional", start: "optional", stop: "optional" } as const;

const RESOURCES: Table<ResourcesServerDefinition["options"]> = {
  ...COMMON,
  seed: "optional",
  row: "optional",
  session: "optional",
  reseed: "optional",
  boundSessions: "optional",
  unseeded: "optional",
  closeSession: "optional",
  seedReply: "optional",
  tools: "optional",
  fallbackTool: "optional",
  verify: "needed",
  echo: "optional",
  verifyIn: "optional",
  metrics: "optional",
  reverifyMode: "optional",
  cohort: "optional",
  allowedTools: "optional",
};

const GYMNASIUM: Table<GymnasiumServerDefinition["options"]> = {
  ...COMMON,
  row: "optional",
  seed: "optional",
  reset: "needed",
  step: "needed",
  keepFinished: "optional",
  unseeded: "optional",
  closeSession: "optional",
  metrics: "optional",
};

const AGENT: Table<AgentDefinition["options"]> = {
  ...COMMON,
  session: "optional",
  responses: "needed",
  run: "optional",
  aggregateMetrics: "optional",
  metrics: "optional",
  prefetch: "optional",
};

const MODEL: Table<ModelDefinition["options"]> = {
  ...COMMON,
  responses: "optional",
  chat: "optional",
  modelName: "optional",
  requestFields: "optional",
  usesReasoningParser: "optional",
  get: "optional",
  post: "optional",
};

const ENVIRONMENT: Table<EnvironmentServerDefinition["options"]> = {
  name: "optional",
  config: "optional",
  start: "optional",
  run: "needed",
  metricsServer: "needed",
};

/** Characters that need no encoding in a path. */
const ROUTE_NAME = /^[A-Za-z0-9\-._~!$&'()*+,;=:@]+$/;

/** Options that hold a schema. */
const SCHEMAS = ["config", "row", "seed"];
/** Kinds of schemas that no object of arguments fits. */
const NOT_ARGUMENTS: unknown[] = ["string", "number", "boolean", "array", "tuple", "enum", "literal", "null"];

/** Finds the mistakes that the TypeScript compiler would find: unknown and missing options. */
export function checkDefinition(definition: ServerDefinition, server: string, log: Logger): void {
  const table: Record<string, Need> = tableOf(definition);
  const options = definition.options as Record<string, unknown>;
  const reject = (problem: string) => {
    throw new GymError("SERVER_DEFINITION", `Server '${server}' ${problem}`);
  };
  const unset = Object.keys(table).filter((name) => options[name] === undefined);
  const missing = unset.filter((name) => table[name] === "needed");
  for (const option of Object.keys(options)) {
    if (Object.hasOwn(table, option)) continue;
    const nearest = suggest(option, missing) ?? suggestMisspelt(option, unset);
    if (nearest !== undefined) reject(`defines '${option}', which nothing reads. Did you mean '${nearest}'?`);
    log.warn(`its definition has '${option}', which nothing reads`);
  }
  for (const [name, need] of Object.entries(table))
    if (need === "needed" && typeof options[name] !== "function")
      reject(`defines no function '${name}', which every server of this type needs.`);
  for (const name of SCHEMAS)
    if (options[name] !== undefined && !isSchema(options[name]))
      reject(`defines '${name}', which must be a zod schema such as z.object({ … }).`);
  for (const [name, tool] of Object.entries((options["tools"] ?? {}) as Record<string, unknown>)) {
    if (!ROUTE_NAME.test(name) || name === "." || name === "..")
      reject(
        `declares a tool ${JSON.stringify(name)}, which cannot be called: POST /<tool> takes letters, digits and ${"-._~!$&'()*+,;=:@"}.`,
      );
    const { run, input } = (tool ?? {}) as { run?: unknown; input?: unknown };
    if (typeof run !== "function") reject(`declares a tool '${name}' without a function 'run'.`);
    if (input !== undefined && !isSchema(input))
      reject(`declares a tool '${name}' whose 'input' is not a zod schema such as z.object({ … }).`);
    if (isSchema(input) && NOT_ARGUMENTS.includes(input.def?.type))
      reject(
        `declares a tool '${name}' with the input z.${input.def?.type}(…). The arguments of a call are an object: use z.object({ … }).`,
      );
  }
}

/** A schema of any copy of zod. */
function isSchema(value: unknown): value is { def?: { type?: unknown } } {
  return typeof (value as { safeParse?: unknown } | null)?.safeParse === "function";
}

function tableOf(definition: ServerDefinition): Record<string, Need> {
  if (definition.type === "responses_api_agents") return AGENT;
  if (definition.type === "responses_api_models") return MODEL;
  if (definition.type === "environment_servers") return ENVIRONMENT;
  return definition.kind === "gymnasium" ? GYMNASIUM : RESOURCES;
}

/**
 * A warning for each key that neither the schema nor `others` knows, with the nearest known key. If the schema takes
 * other keys too (`z.looseObject`), only for keys that are probably misspelt.
 */
export function* unknownKeys(
  schema: z.ZodType,
  config: Readonly<Record<string, unknown>>,
  others: readonly string[] = [],
): Generator<string> {
  const object = objectOf(schema);
  if (!object) return;
  const own = Object.keys(object.shape);
  const known = [...own, ...others];
  const isOpen = object.def.catchall !== undefined && !(object.def.catchall instanceof z.ZodNever);
  for (const key of Object.keys(config)) {
    if (known.includes(key)) continue;
    const nearest = isOpen ? suggestMisspelt(key, known) : suggest(key, known);
    if (nearest !== undefined) yield `${key} has no effect: nothing reads it. Did you mean '${nearest}'?`;
    else if (!isOpen)
      yield own.length > 0
        ? `${key} has no effect: nothing reads it. The server reads: ${own.join(", ")}.`
        : `${key} has no effect: the server declares no keys of its own (config: z.object({ … })).`;
  }
}

/** The object schema itself, or the one wrapped in `z.preprocess`. */
function objectOf(schema: z.ZodType): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  return schema instanceof z.ZodPipe ? objectOf(schema.def.out as z.ZodType) : undefined;
}

/** The keys of an object schema. */
export function schemaKeys(schema: z.ZodType): string[] | undefined {
  const object = objectOf(schema);
  return object && Object.keys(object.shape);
}
