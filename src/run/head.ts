import { errorMessage, GymError } from "../base/errors.ts";
import { Deadline } from "../base/transport/light-door.ts";
import type { ResolvedConfig } from "../config/door.ts";
import { olderInstanceNames } from "../config/light-door.ts";
import { RunClient, requestOnce, type ServerClient } from "../servers/calls/door.ts";
import {
  HEAD_TOKEN_HEADER,
  HEAD_TOKEN_VARIABLE,
  type InstanceRecord,
} from "../servers/hosting/light-door.ts";

const HEAD_TIMEOUT_MS = 5_000;
const DEFAULT_HEAD_URL = "http://127.0.0.1:11000";

/** Address of the head server in the value of `head_server`. */
export function headAddress(value: unknown): { host: string; port: number } {
  const { host, port } = (value ?? {}) as { host?: unknown; port?: unknown };
  return { host: String(host ?? "127.0.0.1"), port: Number(port ?? 11000) };
}

/** URL of the head server that a config names. */
export function headUrl(config: ResolvedConfig): string {
  const { host, port } = headAddress(config.get("head_server"));
  return `http://${host}:${port}`;
}

const POINT_ELSEWHERE = "point at the right address with ++head_server.port=N";

/** Why a head server does not answer: it is absent, busy, or not a head server. */
export type HeadServerTrouble = "absent" | "silent" | "other";

/** The head server could not be queried. */
export class HeadServerError extends GymError {
  readonly trouble: HeadServerTrouble;

  constructor(url: string, trouble: HeadServerTrouble, cause: unknown) {
    super("HEAD_SERVER", TROUBLE_TEXTS[trouble](url, errorMessage(cause)), { cause });
    this.trouble = trouble;
  }
}

const TROUBLE_TEXTS: Record<HeadServerTrouble, (url: string, reason: string) => string> = {
  absent: (url, reason) =>
    `There is no head server at ${url} (${reason}). Start the servers with \`gym env start\`, or ${POINT_ELSEWHERE}.`,
  silent: (url) =>
    `The head server at ${url} does not answer within ${HEAD_TIMEOUT_MS / 1000} s: a server in its process may be computing. Try again, or ${POINT_ELSEWHERE}.`,
  other: (url, reason) => `The server at ${url} is not a head server (${reason}): ${POINT_ELSEWHERE}.`,
};

/** The servers of the run behind a head server. */
export async function runningServers(url: string, signal: AbortSignal): Promise<InstanceRecord[]> {
  const instances = await ask(url, "/server_instances", signal);
  if (Array.isArray(instances)) return instances as InstanceRecord[];
  throw new HeadServerError(url, "other", "it lists no servers");
}

/**
 * The config with which the servers behind a head server were started; secrets are masked without the token of the run.
 */
export async function runningConfig(url: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const text = await ask(url, "/global_config_dict_yaml", signal);
  const { readYaml } = await import("../config/yaml/door.ts");
  const { plainFromNode } = await import("../config/light-door.ts");
  return plainFromNode(readYaml(String(text), { kind: "initial", name: url })) as Record<string, unknown>;
}

async function ask(url: string, path: string, signal: AbortSignal): Promise<unknown> {
  const deadline = new Deadline(HEAD_TIMEOUT_MS, signal);
  const token = process.env[HEAD_TOKEN_VARIABLE];
  try {
    const { status, text } = await requestOnce(`${url}${path}`, {
      signal: deadline.signal,
      headers: token ? { [HEAD_TOKEN_HEADER]: token } : {},
    });
    if (status !== 200) throw new HeadServerError(url, "other", `status ${status}`);
    return parsed(url, text);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HeadServerError) throw error;
    throw new HeadServerError(url, deadline.passed ? "silent" : troubleOf(error), error);
  } finally {
    deadline.clear();
  }
}

function parsed(url: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new HeadServerError(url, "other", "its answer is not JSON");
  }
}

/** If no connection can be made, no server runs there. If the connection breaks, the server does not speak HTTP. */
function troubleOf(error: unknown): HeadServerTrouble {
  const { code = "" } = error as { code?: string };
  return /^(RESPONSE_|ECONNRESET|EPIPE|CONNECTION_CLOSED)/.test(code) ? "other" : "absent";
}

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
  options: { headUrl?: string; signal?: AbortSignal } = {},
): Promise<ConnectedRun> {
  const { headUrl: url = DEFAULT_HEAD_URL, signal = new AbortController().signal } = options;
  const records = await runningServers(url, signal);
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
