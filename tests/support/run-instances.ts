import { fileURLToPath } from "node:url";
import type { ServerType } from "../../src/servers/definitions/definitions.ts";
import type { HostedInstance } from "../../src/servers/hosting/cohost.ts";
import { locateServer } from "../../src/servers/hosting/locate-server.ts";
import {
  type RunningServers,
  runServers,
  type ServersEvent,
} from "../../src/servers/hosting/processes/run-servers.ts";
import { freePort } from "./free-port.ts";

export const installRoot = fileURLToPath(new URL("../..", import.meta.url));

export async function instance(
  name: string,
  type: ServerType,
  implementation: string,
  config: Record<string, unknown> = {},
  roots: string[] = [installRoot],
): Promise<HostedInstance> {
  const entrypoint = String(config["entrypoint"] ?? "app.ts");
  return {
    name,
    type,
    implementation,
    host: "127.0.0.1",
    port: await freePort(),
    config,
    code: locateServer({ name, type, implementation, entrypoint }, roots),
  };
}

/** Starts instances with a head server; the caller closes them. */
export async function startInstances(
  instances: HostedInstance[],
  globalConfig: Record<string, unknown> = {},
  options: { logDirectory?: string } = {},
): Promise<{ servers: RunningServers; events: ServersEvent[] }> {
  const events: ServersEvent[] = [];
  const addresses = instances
    .map(
      ({ name, type, implementation, host, port }) =>
        `${name}:\n  ${type}:\n    ${implementation}:\n      host: ${host}\n      port: ${port}\n`,
    )
    .join("");
  const servers = await runServers({
    instances,
    globalConfig,
    configYaml: `${addresses}secret_key: hunter2\n`,
    publicConfigYaml: `${addresses}secret_key: '****'\n`,
    roots: [installRoot],
    installRoot,
    head: { host: "127.0.0.1", port: await freePort() },
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { servers, events };
}
