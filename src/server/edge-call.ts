import type { Cookies } from "../client/cookies.ts";
import type { AppCall } from "./app.ts";

/** A call from another process. Its signal is made when a handler asks for it: most end without. */
export class EdgeCall implements AppCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly cookies: Cookies;
  readonly headers: AppCall["headers"];
  #controller: AbortController | undefined;
  #aborted: { reason: Error } | undefined;

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
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }
}
