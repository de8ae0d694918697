import type { Cookies } from "./cookies.ts";

export interface CallOptions {
  cookies?: Cookies;
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
  /** Milliseconds for the whole call including retries; null: no limit. */
  timeoutMs?: number | null;
  /** Whether the call may be sent again when it may already have been carried out. */
  idempotent?: boolean;
}

/** What another server answered. */
export interface ServerReply {
  readonly status: number;
  readonly ok: boolean;
  readonly cookies: Cookies;
  /** The body as JSON; a body that is no JSON throws. */
  json(): unknown;
  /** The body as text, as the wire carries it. */
  text(): string;
}

/** Calls the servers of a run by name: directly where they are co-hosted, over pooled HTTP elsewhere. */
export interface ServerClient {
  post(server: string, path: string, body: unknown, options?: CallOptions): Promise<ServerReply>;
  get(server: string, path: string, options?: CallOptions): Promise<ServerReply>;
  /** `http://host:port` of a server, for programs that want an address. */
  baseUrl(server: string): string;
}
