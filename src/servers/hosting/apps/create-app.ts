import type { z } from "zod";
import { GymError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/logger.ts";
import { getCloseMatches } from "../../../base/python/difflib.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import { isObserved } from "../../capture/settings.ts";
import { checkDefinition, keysOf, unknownKeys } from "../../definitions/check-definition.ts";
import type { ServerDefinition } from "../../definitions/definitions.ts";
import type { AppHost, ServerApp } from "../app.ts";
import { hostKeys, misspeltHostKeys, withHostSettings } from "../host-settings.ts";
import { RolloutClient, RolloutContext, serverTypes } from "../rollout-attribution.ts";
import { createAgentApp } from "./agent-app.ts";
import { createGymnasiumApp } from "./gymnasium-app.ts";
import { createModelApp } from "./model-app.ts";
import { createResourcesApp } from "./resources-app.ts";

/** Creates a running server from any definition. The definition's schema parses its config first. */
export function createApp(
  definition: ServerDefinition,
  context: Omit<ServerContext<unknown>, "config">,
  config: Record<string, unknown>,
  host: AppHost,
): ServerApp {
  checkDefinition(definition, context.name, context.log);
  const server: ServerContext<unknown> = {
    ...context,
    config: readConfig(definition, {
      name: context.name,
      config,
      implementation: host.implementation,
      log: context.log,
    }),
  };
  if (!isObserved(context.globalConfig)) return makeApp(definition, server, host);
  const rollouts = new RolloutContext();
  const types = new Map([...(host.serverTypes ?? []), ...serverTypes(context.globalConfig)]);
  const client = new RolloutClient(context.client, rollouts, types);
  const app = makeApp(definition, { ...server, client }, host);
  app.attribute(rollouts);
  return app;
}

function makeApp(definition: ServerDefinition, server: ServerContext<unknown>, host: AppHost): ServerApp {
  switch (definition.type) {
    case "resources_servers":
      return definition.kind === "gymnasium"
        ? createGymnasiumApp(definition, server, host)
        : createResourcesApp(definition, server, host);
    case "responses_api_agents":
      return createAgentApp(definition, server, host);
    case "responses_api_models":
      return createModelApp(definition, server, host);
  }
}

/** A server's config block and its names. */
export interface ConfigSource {
  name: string;
  implementation: string;
  config: Record<string, unknown>;
  log: Logger;
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
  const warnings =
    schema && keysOf(schema) ? unknownKeys(schema, config, hostKeys(type)) : misspeltHostKeys(type, config);
  for (const warning of warnings) log.warn(`${block}.${warning}`);
  if (!schema) return config;
  const result = schema.safeParse(config);
  if (result.success) return { ...config, ...(result.data as object) };
  const problems = result.error.issues.map(
    (issue) => `  - ${[block, ...issue.path].join(".")}: ${problemOf(issue, config)}`,
  );
  throw new GymError(
    "SERVER_CONFIG",
    `The config of server '${name}' does not fit its schema:\n${problems.join("\n")}\n` +
      "Set them in a config file, in env.yaml, or as ++<key>=<value>.",
  );
}

function problemOf(issue: z.core.$ZodIssue, config: Record<string, unknown>): string {
  const [key] = issue.path;
  if (key !== undefined && config[String(key)] === undefined) return "is required";
  if (issue.code !== "invalid_value" || issue.path.length !== 1) return issue.message;
  const [nearest] = getCloseMatches(String(config[String(key)]), issue.values.map(String), 1);
  return nearest === undefined ? issue.message : `${issue.message}. Did you mean '${nearest}'?`;
}
