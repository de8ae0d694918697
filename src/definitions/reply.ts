import type { Cookies } from "../calls/cookies.ts";

/** An answer, before it is put on a wire or handed to a co-hosted caller. */
export interface AppReply {
  status: number;
  /** A JSON value; ignored when `raw` or `stream` is there. */
  body?: unknown;
  /** JSON text that is passed on without having been read. */
  raw?: string;
  /** Frames of a server-sent event stream. */
  stream?: AsyncIterable<string>;
  headers?: Readonly<Record<string, string>>;
  /** Cookies to set. */
  readonly cookies: Cookies;
}

/**
 * A handler's way to answer with more than a JSON value; each is sent once. The promise it comes with may outlive it by far among old
 * objects: it lets go of what it carries, which would live as long otherwise.
 */
export class Reply {
  readonly status: number;
  readonly cookies: Cookies | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  #content: Pick<Partial<AppReply>, "body" | "raw" | "stream"> | undefined;

  constructor(parts: Partial<AppReply>) {
    this.status = parts.status ?? 200;
    this.cookies = parts.cookies;
    this.headers = parts.headers;
    this.#content = parts;
  }

  get body(): unknown {
    return this.#content?.body;
  }

  get raw(): string | undefined {
    return this.#content?.raw;
  }

  get stream(): AsyncIterable<string> | undefined {
    return this.#content?.stream;
  }

  /** It has been sent. */
  release(): void {
    this.#content = undefined;
  }
}
