import type { Cookies } from "./cookies.ts";
import type { ServerReply } from "./server-client.ts";

/** The response to a call: a JSON value from a server of this process, or JSON text from elsewhere. */
export class ReceivedReply implements ServerReply {
  readonly status: number;
  readonly cookies: Cookies;
  readonly #raw: string | undefined;
  #body: unknown;
  #isParsed: boolean;

  constructor(reply: { status: number; cookies: Cookies; body?: unknown; raw?: string | undefined }) {
    this.status = reply.status;
    this.cookies = reply.cookies;
    this.#raw = reply.raw;
    this.#body = reply.body;
    this.#isParsed = reply.raw === undefined;
  }

  get ok(): boolean {
    return this.status < 400;
  }
  json(): unknown {
    if (!this.#isParsed) {
      this.#body = JSON.parse(this.#raw ?? "");
      this.#isParsed = true;
    }
    return this.#body;
  }
  text(): string {
    return this.#raw ?? JSON.stringify(this.#body ?? null);
  }
  payload(): { body: unknown } | { raw: string } {
    return this.#raw === undefined ? { body: this.#body } : { raw: this.#raw };
  }
}
