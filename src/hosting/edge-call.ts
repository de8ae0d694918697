import type { Cookies } from "../calls/cookies.ts";
import { LazySignal } from "../calls/lazy-signal.ts";
import type { AppCall } from "./app.ts";

/** A call from another process. Its signal is made when a handler asks for it: most end without. */
export class EdgeCall implements AppCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly cookies: Cookies;
  readonly headers: AppCall["headers"];
  readonly stop = new LazySignal();

  constructor(
    method: string,
    path: string,
    body: unknown,
    from: { cookies: Cookies; headers: AppCall["headers"] },
  ) {
    this.method = method;
    this.path = path;
    this.body = body;
    this.cookies = from.cookies;
    this.headers = from.headers;
  }

  get signal(): AbortSignal {
    return this.stop.signal;
  }

  abort(reason: Error): void {
    this.stop.abort(reason);
  }
}
