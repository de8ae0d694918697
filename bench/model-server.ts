import type { ServerDefinition } from "../src/definitions/definitions.ts";
import type { ServerApp } from "../src/hosting/app.ts";
import { createApp } from "../src/hosting/apps/create-app.ts";
import { silentLogger } from "../src/logger.ts";

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
