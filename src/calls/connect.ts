import { errorMessage, GymError } from "../errors.ts";
import { withDeadline } from "./deadline.ts";
import { requestOnce } from "./http-pools.ts";
import { RunClient } from "./run-client.ts";
import type { ServerClient } from "./server-client.ts";

const DEFAULT_HEAD_URL = "http://127.0.0.1:11000";
const HEAD_TIMEOUT_MS = 5_000;

/**
 * Connects to servers that run (`gym env start`), by their names.
 *
 * @example
 * const { client, close } = await connectToRun();
 * const reply = await client.post("my_agent", "/run", row);
 */
export async function connectToRun(
  options: { headUrl?: string; signal?: AbortSignal } = {},
): Promise<{ client: ServerClient; servers: string[]; close(): Promise<void> }> {
  const url = options.headUrl ?? DEFAULT_HEAD_URL;
  let records: { process_name: string; url: string }[];
  try {
    records = await withDeadline(HEAD_TIMEOUT_MS, options.signal, async (signal) => {
      const reply = await requestOnce(`${url}/server_instances`, { signal });
      return JSON.parse(reply.text) as typeof records;
    });
  } catch (error) {
    throw new GymError(
      "RUN_NOT_FOUND",
      `There is no head server at ${url} (${errorMessage(error)}): start the servers with \`gym env start\`, or give the right address.`,
      { cause: error },
    );
  }
  const client = new RunClient({
    addresses: new Map(records.map((server) => [server.process_name, server.url])),
  });
  return { client, servers: records.map((server) => server.process_name), close: () => client.close() };
}
