import type { ServerContext } from "../../calls/server-client.ts";
import { isObserved } from "../../capture/settings.ts";
import { checkDefinition } from "../../definitions/check-definition.ts";
import type { ServerDefinition } from "../../definitions/definitions.ts";
import type { AppHost, ServerApp } from "../app.ts";
import { RolloutClient, RolloutContext, serverTypesByName } from "../rollout-attribution.ts";
import { createAgentApp } from "./agent-app.ts";
import { createEnvironmentApp } from "./environment-app.ts";
import { createGymnasiumApp } from "./gymnasium-app.ts";
import { createModelApp } from "./model-app.ts";
import { readConfig } from "./read-config.ts";
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
  const types = new Map([...(host.serverTypes ?? []), ...serverTypesByName(context.globalConfig)]);
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
    case "environment_servers":
      return createEnvironmentApp(definition, server, host);
  }
}
