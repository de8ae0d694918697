import { randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export function newToken(): string {
  return randomBytes(18).toString("base64url");
}

/**
 * The token that grants access to the viewer: first in the printed address, then in a cookie that is sent only to this
 * server. Programs send it as `Authorization: Bearer`.
 */
export class AccessToken {
  readonly #token: Buffer;
  readonly #cookieName: string;
  readonly #unused = new Set<string>();

  constructor(token: string, port: number) {
    this.#token = Buffer.from(token);
    // All ports of a host share cookies, so the name contains the port.
    this.#cookieName = `gym_viewer_${port}`;
  }

  get cookie(): string {
    return `${this.#cookieName}=${this.#token.toString()}; Path=/; HttpOnly; SameSite=Strict`;
  }

  /** A token that is valid for one request. The command line of a program is visible to every user of the machine. */
  oneTime(): string {
    const token = newToken();
    this.#unused.add(token);
    return token;
  }

  check(request: IncomingMessage, parameters: URLSearchParams): "granted" | "by-address" | "rejected" {
    const given = parameters.get("token");
    if (this.#is(given) || (given !== null && this.#unused.delete(given))) return "by-address";
    const [, bearer] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "") ?? [];
    const [, cookie] =
      new RegExp(`(?:^|;\\s*)${this.#cookieName}=([^;]*)`).exec(request.headers.cookie ?? "") ?? [];
    return this.#is(bearer) || this.#is(cookie) ? "granted" : "rejected";
  }

  #is(given: string | null | undefined): boolean {
    const bytes = Buffer.from(given ?? "");
    return bytes.length === this.#token.length && timingSafeEqual(bytes, this.#token);
  }
}
