import { onTestFinished } from "vitest";
import { startModelServer as startApp } from "../bench/model-server.ts";
import type { ServerDefinition } from "../src/servers/definitions/definitions.ts";
import { HttpEdge } from "../src/servers/hosting/http-edge.ts";
import { freePort } from "./support/free-port.ts";

/** Starts a model server on a free port until the test is over; returns its address. */
export async function startModelServer(
  definition: ServerDefinition,
  config: Record<string, unknown>,
): Promise<string> {
  const app = await startApp(definition, config);
  const port = await freePort();
  const edge = await HttpEdge.listen(app, { host: "127.0.0.1", port });
  onTestFinished(async () => {
    await edge.close();
    await app.close();
  });
  return `http://127.0.0.1:${port}`;
}
