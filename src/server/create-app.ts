import type { z } from "zod";
import { GymError } from "../errors.ts";
import { createAgentApp } from "./agent-app.ts";
import type { ServerApp } from "./app.ts";
import { isObserved } from "./capture/settings.ts";
import type { ServerContext } from "./context.ts";
import type { ServerDefinition, ServerType } from "./definitions.ts";
import { createGymnasiumApp } from "./gymnasium-app.ts";
import { createModelApp } from "./model-app.ts";
import { createResourcesApp, type VerifyRunner } from "./resources-app.ts";
import { RolloutClient, serverTypes } from "./rollout-client.ts";
import { RolloutContext } from "./rollout-context.ts";

/** What a host provides to the server it makes. */
export interface AppHost {
  implementation: string;
  verifyInPool?: VerifyRunner;
  newSessionId?: () => string;
  /** Kinds of servers that the config of the run may not describe. */
  serverTypes?: ReadonlyMap<string, ServerType>;
}

/** Makes a running server out of any definition; its config is read by the definition's own schema first. */
export function createApp(
  definition: ServerDefinition,
  context: Omit<ServerContext<unknown>, "config">,
  config: Record<string, unknown>,
  host: AppHost,
): ServerApp {
  const server: ServerContext<unknown> = { ...context, config: readConfig(definition, context.name, config) };
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

/** Own keys as the schema made them, others as they were: the base reads keys no schema mentions. */
function readConfig(definition: ServerDefinition, name: string, config: Record<string, unknown>): unknown {
  const schema: z.ZodType | undefined = definition.options.config;
  if (!schema) return config;
  const result = schema.safeParse(config);
  if (result.success) return { ...config, ...(result.data as object) };
  const problems = result.error.issues
    .map((issue) => `  - ${[name, ...issue.path].join(".")}: ${issue.message}`)
    .join("\n");
  throw new GymError("SERVER_CONFIG", `The config of server '${name}' does not fit its schema:\n${problems}`);
}
