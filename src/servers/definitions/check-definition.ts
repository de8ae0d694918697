import { z } from "zod";
import { GymError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { getCloseMatches } from "../../base/python/difflib.ts";
import type { AgentDefinition } from "./define-agent.ts";
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
  responses: "needed",
  run: "optional",
  aggregateMetrics: "optional",
  prefetch: "optional",
};

const MODEL: Table<ModelDefinition["options"]> = {
  ...COMMON,
  responses: "optional",
  chat: "optional",
  modelName: "optional",
  usesReasoningParser: "optional",
  get: "optional",
  post: "optional",
};

/** Similarity above which an unknown option counts as a misspelling. Others may belong to a newer version. */
const OPTION_NEARNESS = 0.75;
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
  const refuse = (problem: string) => {
    throw new GymError("SERVER_DEFINITION", `Server '${server}' ${problem}`);
  };
  const unset = Object.keys(table).filter((name) => options[name] === undefined);
  for (const option of Object.keys(options)) {
    if (Object.hasOwn(table, option)) continue;
    const [nearest] = getCloseMatches(option, unset, 1, OPTION_NEARNESS);
    if (nearest !== undefined) refuse(`defines '${option}', which nothing reads. Did you mean '${nearest}'?`);
    log.warn(`its definition has '${option}', which nothing reads`);
  }
  for (const [name, need] of Object.entries(table))
    if (need === "needed" && typeof options[name] !== "function")
      refuse(`defines no function '${name}', which every server of this type needs.`);
  for (const name of SCHEMAS)
    if (options[name] !== undefined && !isSchema(options[name]))
      refuse(`defines '${name}', which must be a zod schema such as z.object({ … }).`);
  for (const [name, tool] of Object.entries((options["tools"] ?? {}) as Record<string, unknown>)) {
    if (!ROUTE_NAME.test(name) || name === "." || name === "..")
      refuse(
        `declares a tool ${JSON.stringify(name)}, which cannot be called: POST /<tool> takes letters, digits and ${"-._~!$&'()*+,;=:@"}.`,
      );
    const { run, input } = (tool ?? {}) as { run?: unknown; input?: unknown };
    if (typeof run !== "function") refuse(`declares a tool '${name}' without a function 'run'.`);
    if (input !== undefined && !isSchema(input))
      refuse(`declares a tool '${name}' whose 'input' is not a zod schema such as z.object({ … }).`);
    if (isSchema(input) && NOT_ARGUMENTS.includes(input.def?.type))
      refuse(
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
  return definition.kind === "gymnasium" ? GYMNASIUM : RESOURCES;
}

/**
 * Similarity above which an unknown key counts as a misspelling. Other keys may belong to another version or program.
 */
const NEARNESS = 0.85;
/** One wrong letter changes a larger part of a short key, so keys up to this length need less similarity. */
const SHORT_KEY = 6;
const SHORT_NEARNESS = 0.75;

/** The known key that `key` probably means, whether or not the config sets that one too. */
export function nearestKey(key: string, known: readonly string[]): string | undefined {
  const isShort = key.length <= SHORT_KEY;
  // Short words also resemble each other by chance (`cost`, `host`), but the first letter is rarely mistyped.
  const candidates = isShort ? known.filter((name) => name[0] === key[0]) : known;
  return getCloseMatches(key, candidates, 1, isShort ? SHORT_NEARNESS : NEARNESS)[0];
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
    const nearest = isOpen ? nearestKey(key, known) : getCloseMatches(key, known, 1)[0];
    if (nearest !== undefined) yield `${key} has no effect: nothing reads it. Did you mean '${nearest}'?`;
    else if (!isOpen) yield `${key} has no effect: nothing reads it. The server reads: ${own.join(", ")}.`;
  }
}

/** The object schema itself, or the one wrapped in `z.preprocess`. */
function objectOf(schema: z.ZodType): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  return schema instanceof z.ZodPipe ? objectOf(schema.def.out as z.ZodType) : undefined;
}

/** The keys of an object schema. */
export function keysOf(schema: z.ZodType): string[] | undefined {
  const object = objectOf(schema);
  return object && Object.keys(object.shape);
}
