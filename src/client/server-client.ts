import { type FailureStage, failureOf, isServerCallError, ServerCallError } from "./call-errors.ts";
import type { Cookies } from "./cookies.ts";
import type { StopSignal } from "./stop-signal.ts";

export interface CallOptions {
  cookies?: Cookies;
  signal?: StopSignal;
  headers?: Readonly<Record<string, string>>;
  /** Milliseconds for the whole call including retries; null or absent: as long as the signal allows. */
  timeoutMs?: number | null;
  /** Whether the call may be sent again when it may already have been carried out; default false. */
  idempotent?: boolean;
  /** Told what a long call is busy with. */
  onStage?: StageListener;
}

/** Hears which part of a rollout is running. */
export type StageListener = (stage: FailureStage, what?: string) => void;

/** What another server answered. */
export interface ServerReply {
  readonly status: number;
  readonly ok: boolean;
  readonly cookies: Cookies;
  /** The body as JSON; a body that is no JSON throws. */
  json(): unknown;
  /** The body as text, as the wire carries it. */
  text(): string;
  /** The body in the form it is already in, to be passed on without another look. */
  payload(): { body: unknown } | { raw: string };
}

/** Calls the servers of a run by name: directly where they are co-hosted, over pooled HTTP elsewhere. */
export interface ServerClient {
  post(server: string, path: string, body: unknown, options?: CallOptions): Promise<ServerReply>;
  get(server: string, path: string, options?: CallOptions): Promise<ServerReply>;
  /** `http://host:port` of a server, for programs that want an address. */
  baseUrl(server: string): string;
}

/** Posts to a server and insists on success: whatever goes wrong is thrown with its root cause and the stage. */
export function callServer(
  client: ServerClient,
  call: { server: string; path: string; body: unknown; stage: FailureStage } & CallOptions,
): Promise<ServerReply> {
  const { server, path, body, stage } = call;
  return client.post(server, path, body, call).then(
    (reply) => {
      if (!reply.ok) throw failureOf(server, path, stage, reply);
      return reply;
    },
    (error: unknown) => {
      throw inStage(stage, error);
    },
  );
}

/** A failure that does not say where it happened happened in `stage`. */
export function inStage(stage: FailureStage, error: unknown): unknown {
  if (!isServerCallError(error) || error.info.stage) return error;
  return new ServerCallError(error.server, error.status, { ...error.info, stage }, { cause: error });
}
