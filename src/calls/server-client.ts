import { type FailureStage, failureOf, inStage } from "./call-errors.ts";
import type { Cookies } from "./cookies.ts";
import type { StopSignal } from "./stop-signal.ts";

export interface CallOptions {
  cookies?: Cookies;
  signal?: StopSignal;
  headers?: Readonly<Record<string, string>>;
  /** Milliseconds for the whole call including retries; null or absent: as long as the signal allows. */
  timeoutMs?: number | null;
  /** The key that sets this time, for the message when it is over. */
  timeoutKey?: string;
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
  /** Lets go of the body; who is done with it may say so, because the promise it came with may outlive it by far among old objects. */
  release?(): void;
}

/** Calls the servers of a run by name: directly where they are co-hosted, over pooled HTTP elsewhere. */
export interface ServerClient {
  post(server: string, path: string, body: unknown, options?: CallOptions): Promise<ServerReply>;
  get(server: string, path: string, options?: CallOptions): Promise<ServerReply>;
  /** Posts as `callServer` does, where that can be done in one step. */
  require?(call: RequiredCall): Promise<ServerReply>;
  /** `http://host:port` of a server, for programs that want an address. */
  baseUrl(server: string): string;
}

/** A call that has to succeed. */
export interface RequiredCall extends CallOptions {
  server: string;
  path: string;
  body: unknown;
  stage: FailureStage;
}

/** Posts to a server and insists on success: whatever goes wrong is thrown with its root cause and the stage. */
export function callServer(client: ServerClient, call: RequiredCall): Promise<ServerReply> {
  const { server, path, body, stage } = call;
  return client.require?.(call) ?? insistOn(client.post(server, path, body, call), server, path, stage);
}

/** The answer, if it is a success; a failure of `stage` otherwise. */
export function insistOn(
  reply: Promise<ServerReply>,
  server: string,
  path: string,
  stage: FailureStage,
): Promise<ServerReply> {
  return reply.then(
    (answer) => {
      if (!answer.ok) throw failureOf(server, path, stage, answer);
      return answer;
    },
    (error: unknown) => {
      throw inStage(stage, error);
    },
  );
}
