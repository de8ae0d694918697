import { RunClient } from "../calls/run-client.ts";
import type { ServerClient } from "../calls/server-client.ts";
import { olderInstanceNames } from "../config/servers/aliases.ts";
import { runningServers } from "./head.ts";

const DEFAULT_HEAD_URL = "http://127.0.0.1:11000";

/** Servers that run in other processes. */
export interface ConnectedRun {
  client: ServerClient;
  /** Names of all servers. */
  servers: string[];
  /** Names of the agents among them. */
  agents: string[];
  close(): Promise<void>;
}

/**
 * Connects to running servers (`gym env start`) by name.
 *
 * @example
 * const { client, close } = await connectToRun();
 * const reply = await client.post("my_agent", "/run", row);
 */
export async function connectToRun(
  options: { headUrl?: string | undefined; signal?: AbortSignal } = {},
): Promise<ConnectedRun> {
  const { headUrl = DEFAULT_HEAD_URL, signal = new AbortController().signal } = options;
  const records = await runningServers(headUrl, signal);
  const addresses = new Map(records.map(({ process_name, url }) => [process_name, url]));
  for (const { process_name, url } of records)
    for (const name of olderInstanceNames(process_name)) if (!addresses.has(name)) addresses.set(name, url);
  const client = new RunClient({ addresses });
  return {
    client,
    servers: records.map(({ process_name }) => process_name),
    agents: records
      .filter(({ server_type }) => server_type === "responses_api_agents")
      .map(({ process_name }) => process_name),
    close: () => client.close(),
  };
}
