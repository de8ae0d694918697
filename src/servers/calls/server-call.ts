import { type Cookies, NO_COOKIES } from "./cookies.ts";
import type { StageListener } from "./server-client.ts";

/** A request to a server, over HTTP, over a link, or from the same process. */
export interface AppCall {
  method: string;
  /** Path without query, as sent. */
  path: string;
  /** Query string with its `?`; only HTTP requests have one. */
  query?: string;
  /** Parsed JSON; undefined without a body. Over HTTP or a link also a `MalformedBody`. */
  body: unknown;
  cookies: Cookies;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  signal: AbortSignal;
  /** Reports the current stage of a rollout to co-hosted callers. */
  onStage?: StageListener;
}

/** Splits the target of a request into path and query. */
export function splitQuery(target: string): Pick<AppCall, "path" | "query"> {
  const query = target.indexOf("?");
  return query < 0 ? { path: target } : { path: target.slice(0, query), query: target.slice(query) };
}

/**
 * The response of a server, before it is sent over HTTP or a link, or passed to a co-hosted caller. Handlers return one
 * to send more than a JSON value.
 */
export class Reply {
  readonly status: number;
  /** A JSON value; ignored when `raw` or `stream` is set. */
  readonly body: unknown;
  /** JSON text that is forwarded without being parsed. */
  readonly raw: string | undefined;
  /** Frames of a server-sent event stream. */
  readonly stream: AsyncIterable<string> | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Cookies to set. */
  readonly cookies: Cookies;
  /** Another session for the cookie of the server that answers. */
  readonly sessionId: string | undefined;

  constructor(parts: Partial<Reply>) {
    this.status = parts.status ?? 200;
    this.body = parts.body;
    this.raw = parts.raw;
    this.stream = parts.stream;
    this.headers = parts.headers;
    this.cookies = parts.cookies ?? NO_COOKIES;
    this.sessionId = parts.sessionId;
  }
}

/** The result of a tool that the model reads as it is, not as a JSON string. */
export function plainText(text: string): Reply {
  return new Reply({ raw: text, headers: { "content-type": "text/plain; charset=utf-8" } });
}
