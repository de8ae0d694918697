import { silentLogger } from "../src/base/logger.ts";
import type { ServerDefinition } from "../src/servers/definitions/definitions.ts";
import type { ServerApp } from "../src/servers/hosting/app.ts";
import { createApp } from "../src/servers/hosting/apps/create-app.ts";

/** Starts a model server in this process. */
export async function startModelServer(
  definition: ServerDefinition,
  config: Record<string, unknown>,
): Promise<ServerApp> {
  const app = createApp(
    definition,
    {
      name: "policy_model",
      directory: process.cwd(),
      globalConfig: {},
      client: undefined as never,
      log: silentLogger,
      findFile: (path) => path,
    },
    config,
    { implementation: "model" },
  );
  await app.start();
  return app;
}
