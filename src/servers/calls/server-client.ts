import type { Logger } from "../../base/door.ts";
import type { FailureStage } from "../../base/failures.ts";
import type { Cookies } from "./cookies.ts";
import { failureOf, inStage } from "./errors.ts";

export interface CallOptions {
  cookies?: Cookies;
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
  /** Time limit of the whole call including retries, in milliseconds; null or absent: as long as the signal allows. */
  timeoutMs?: number | null;
  /** The config key of the time limit, for the error message. */
  timeoutKey?: string;
  /** Whether the call may be sent again although the server may have handled it. Default false. */
  idempotent?: boolean;
  /** Called when the rollout enters another stage. */
  onStage?: StageListener;
}

/** Receives the stage that a rollout enters. */
export type StageListener = (stage: FailureStage, what?: string) => void;

/** The response of another server. */
export interface ServerReply {
  readonly status: number;
  readonly ok: boolean;
  readonly cookies: Cookies;
  /** The parsed JSON body; throws when the body is not JSON. */
  json(): unknown;
  /** The body as text, as sent to another process. */
  text(): string;
  /** The body in its current form, to forward it without parsing. */
  payload(): { body: unknown } | { raw: string };
}

/** Calls the servers of a run by name: directly if they are co-hosted, else over HTTP. */
export interface ServerClient {
  post(server: string, path: string, body: unknown, options?: CallOptions): Promise<ServerReply>;
  get(server: string, path: string, options?: CallOptions): Promise<ServerReply>;
  /** `http://host:port` of a server, for programs that need an address. */
  baseUrl(server: string): string;
}

/** A call that must succeed. */
export interface RequiredCall extends CallOptions {
  server: string;
  path: string;
  body: unknown;
  stage: FailureStage;
}

/** Posts to a server and requires success: a failure is thrown with its root cause and stage. */
export async function callServer(client: ServerClient, call: RequiredCall): Promise<ServerReply> {
  const { server, path, body, stage } = call;
  let reply: ServerReply;
  try {
    reply = await client.post(server, path, body, call);
  } catch (error) {
    throw inStage(stage, error);
  }
  if (!reply.ok) throw failureOf(server, path, stage, reply);
  return reply;
}

/** The name, config and environment of a running server instance. */
export interface ServerContext<Config = Record<string, unknown>> {
  /** Instance name, unique in a run. */
  readonly name: string;
  /** Folder of the implementation, with its data files and prompts. */
  readonly directory: string;
  readonly config: Config;
  /** The whole resolved config of the run. */
  readonly globalConfig: Readonly<Record<string, unknown>>;
  /** Calls other servers of the run by name. */
  readonly client: ServerClient;
  readonly log: Logger;
  /** Finds a file in the same way as `config_paths`: extra roots, working directory, install root. */
  findFile(path: string): string;
}
