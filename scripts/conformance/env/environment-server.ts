import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { installRoot } from "../../../src/config/paths.ts";
import type { ServerDefinition } from "../../../src/servers/definitions/definitions.ts";
import { createTestServer, type TestServer } from "../../../src/testing/index.ts";
import type { Adapter } from "./adapters.ts";
import { installConfig } from "./fixture-config.ts";
import { type FixtureRow, isObject, type JsonObject } from "./rows.ts";
import { ScriptedServers } from "./scripted-servers.ts";

/** The environment of a suite: its module and the special requirements of its fixtures. */
export interface Environment {
  name: string;
  directory: string;
  /** Directory of the fixtures; some include their own data. */
  fixtures: string;
  module: JsonObject;
  adapter: Adapter;
}

/** One server under test, created for one row. */
export interface RowServer {
  server: TestServer;
  scripted: ScriptedServers;
  close(): Promise<void>;
}

/** Loads the compiled `resources_servers/<name>/app`, or the agent of this name. */
export async function loadEnvironmentModule(
  name: string,
): Promise<{ directory: string; module: JsonObject }> {
  if (!/^[A-Za-z0-9_]+$/.test(name)) throw new Error(`'${name}' is not an environment name`);
  for (const folder of ["resources_servers", "responses_api_agents"]) {
    // Compiled code is in dist/; data and prompts stay in the source folder.
    const file = path.join(installRoot(), "dist", folder, name, "app.js");
    if (!existsSync(file)) continue;
    const module: unknown = await import(pathToFileURL(file).href);
    if (!isObject(module)) throw new Error(`${file} exports nothing`);
    return { directory: path.join(installRoot(), folder, name), module };
  }
  throw new Error(`There is neither an environment nor an agent '${name}' in dist/.`);
}

/** The definition of the environment, with what the row injects. */
export function definitionOf(environment: Environment, row: FixtureRow): ServerDefinition {
  const definition =
    environment.adapter.definition?.(environment.module, row) ?? environment.module["default"];
  if (!isObject(definition) || definition["type"] !== "resources_servers") {
    throw new Error(`resources_servers/${environment.name}/app exports no resources server definition`);
  }
  return definition as unknown as ServerDefinition;
}

const scriptedNames = ["judge", "genrm", "policy_model"];

/** Starts the environment with the config of the row, and with scripted servers. */
export async function startRowServer(environment: Environment, row: FixtureRow): Promise<RowServer> {
  const { adapter } = environment;
  const installed = await installConfig({ ...adapter.config?.(row, environment), ...row.config });
  const scripted = new ScriptedServers(row["judge_outputs"], adapter.judgeKey);
  const names = [...scriptedNames, ...(adapter.servers ?? [])];
  const server = await createTestServer(definitionOf(environment, row), {
    config: installed.config,
    directory: environment.directory,
    servers: Object.fromEntries(names.map((name) => [name, scripted.handler(name)])),
  });
  return {
    server,
    scripted,
    close: async () => {
      await server.close();
      await installed.remove();
    },
  };
}
