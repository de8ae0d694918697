import { GymError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/python/json/door.ts";
import { resolveLeniently, type ServerInstance } from "../../config/door.ts";
import { currentComponentName } from "../../config/light-door.ts";
import type { GymnasiumServerDefinition, ResourcesServerDefinition } from "../../servers/definitions/door.ts";
import { loadDefinition, locateServer, offeredTools, rowSchemaOf } from "../../servers/hosting/light-door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { hint } from "../hint.ts";
import { namedConfig, selectConfig } from "../selectors.ts";

interface DescribedServer {
  readonly instance: ServerInstance;
  readonly definition: ResourcesServerDefinition | GymnasiumServerDefinition;
}

/** Runs `gym env tools NAME`. */
export async function showTools(context: CommandContext, name: string, server?: string): Promise<number> {
  const { instance, definition } = await describedServer(context, name, server);
  const tools = definition.kind === "standard" ? offeredTools(definition.options, instance.config) : [];
  const { out, err, json, terminal } = context;
  if (json) {
    out(JSON.stringify(tools));
    return 0;
  }
  for (const { name: tool, description, parameters } of tools) {
    out(`${terminal.bold(tool)}${description ? `: ${description}` : ""}`);
    for (const line of argumentLines(parameters as JsonObject | null)) out(`  ${line}`);
  }
  if (tools.length === 0) err(`${instance.name} declares no tools.`);
  return 0;
}

function argumentLines(parameters: JsonObject | null): string[] {
  const { properties = {}, required = [] } = (parameters ?? {}) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = schema;
    const need = required.includes(name) ? "" : ", optional";
    return `${name} (${typeText(rest)}${need})${description === undefined ? "" : `: ${String(description)}`}`;
  });
}

/** `integer, exclusiveMinimum 0`; the schema itself if it has no single type. */
function typeText(schema: JsonObject): string {
  const { type, ...limits } = schema;
  if (typeof type !== "string") return JSON.stringify(schema);
  const told = Object.entries(limits)
    // zod adds these bounds to every integer.
    .filter(([, limit]) => limit !== Number.MAX_SAFE_INTEGER && limit !== Number.MIN_SAFE_INTEGER)
    .map(([name, limit]) => `${name} ${JSON.stringify(limit)}`);
  return [type, ...told].join(", ");
}

/** Runs `gym env schema NAME`, or `--resources-server NAME`. */
export async function showRowSchema(
  context: CommandContext,
  name: string | undefined,
  { server, "resources-server": folder }: { server?: string; "resources-server"?: string },
): Promise<number> {
  if (name !== undefined && folder !== undefined)
    throw new UsageError("choose the environment by NAME or --resources-server, not both");
  const config = folder === undefined ? undefined : await resourcesConfig(context, folder);
  const given = name ?? config;
  if (given === undefined) throw new UsageError("the following arguments are required: NAME");
  const { definition } = await describedServer(context, given, server);
  context.out(JSON.stringify(rowSchemaOf(definition.options), null, 2));
  return 0;
}

/** The config of a resources server; the flag never means a file or an environment of that name. */
function resourcesConfig({ roots, err }: CommandContext, name: string): Promise<string> {
  const kind = "resources-server";
  return selectConfig(kind, kind, name, { roots, warn: err });
}

/** The resources server of an environment, and the definition in its file. */
async function describedServer(
  context: CommandContext,
  name: string,
  server?: string,
): Promise<DescribedServer> {
  const { io, env, installRoot, roots } = context;
  const configFile = await namedConfig(context, name);
  const { servers } = resolveLeniently(configFile, { cwd: io.cwd, env: { ...env }, installRoot });
  const instance = chosenServer(
    servers.filter(({ type }) => type === "resources_servers"),
    name,
    server,
  );
  const { type, entrypoint } = instance;
  const implementation = currentComponentName(instance.implementation);
  const code = locateServer({ name: instance.name, type, implementation, entrypoint }, roots);
  if (code.language !== "node")
    throw new GymError(
      "SERVER_FOLDER",
      `${implementation} is written in Python; its schemas are at /openapi.json of the running server (gym env start).`,
    );
  const definition = await loadDefinition(code.entry, installRoot);
  if (definition.type !== "resources_servers")
    throw new GymError("SERVER_FOLDER", `${code.entry} defines ${definition.type}, not a resources server.`);
  return { instance, definition };
}

function chosenServer(servers: readonly ServerInstance[], name: string, wanted?: string): ServerInstance {
  const names = servers.map((server) => server.name);
  const found = wanted === undefined ? servers : servers.filter((server) => server.name === wanted);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (wanted !== undefined)
    throw new UsageError(
      `argument --server: the config of '${name}' has no resources server '${wanted}'.${hint(wanted, names)} It has: ${names.join(", ") || "none"}.`,
    );
  if (servers.length === 0)
    throw new UsageError(`argument NAME: the config of '${name}' has no resources server.`);
  throw new UsageError(
    `'${name}' has several resources servers; choose one with --server: ${names.join(", ")}.`,
  );
}
