import { onTestFinished } from "vitest";
import type { ServerDefinition } from "../src/definitions/definitions.ts";
import { createApp } from "../src/hosting/apps/create-app.ts";
import { HttpEdge } from "../src/hosting/http-edge.ts";
import { silentLogger } from "../src/logger.ts";
import { freePort } from "./support/free-port.ts";

/** Starts a model server on a free port until the test is over; returns its address. */
export async function startModelServer(
  definition: ServerDefinition,
  config: Record<string, unknown>,
): Promise<string> {
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
  const port = await freePort();
  const edge = await HttpEdge.listen(app, { host: "127.0.0.1", port });
  onTestFinished(async () => {
    await edge.close();
    await app.close();
  });
  return `http://127.0.0.1:${port}`;
}
