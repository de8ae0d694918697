import type { Cookies } from "./cookies.ts";

/** Who signs the cookies of one server. */
export interface CookieSigner {
  readonly name: string;
  /** The cookie of a session; `given`, which came with the request, may do. */
  sign(sessionId: string, given?: string): string;
}

/**
 * Cookies that are signed when somebody reads them. Servers of one process know each other's sessions without: signatures are for
 * those who are elsewhere. One object for each cookie, because every rollout that waits holds some: the first stands for all of them.
 */
export class SessionCookies {
  readonly #signer: CookieSigner;
  readonly #sessionId: string;
  readonly #given: string | undefined;
  readonly #next: SessionCookies | undefined;
  #value: string | undefined;

  private constructor(
    signer: CookieSigner,
    sessionId: string,
    given: string | undefined,
    value: string | undefined,
    next: SessionCookies | undefined,
  ) {
    this.#signer = signer;
    this.#sessionId = sessionId;
    this.#given = given;
    this.#value = value;
    this.#next = next;
    for (let each: SessionCookies | undefined = this; each; each = each.#next)
      Object.defineProperty(this, each.#signer.name, propertyOf(each.#signer));
  }

  static of(signer: CookieSigner, sessionId: string, given: string | undefined): Cookies {
    return new SessionCookies(signer, sessionId, given, undefined, undefined) as unknown as Cookies;
  }

  /** The session that the cookies name for this signer; undefined when they have to be read. */
  static sessionIn(cookies: Cookies, signer: CookieSigner): string | undefined {
    const cookie = cookies instanceof SessionCookies ? cookies.#by(signer) : undefined;
    return cookie === undefined ? undefined : cookie.#sessionId;
  }

  static valueIn(cookies: SessionCookies, signer: CookieSigner): string | undefined {
    const cookie = cookies.#by(signer);
    if (cookie === undefined) return undefined;
    cookie.#value ??= signer.sign(cookie.#sessionId, cookie.#given);
    return cookie.#value;
  }

  /** Both, the newer ones winning, none of them signed for it; undefined when one of them is of another kind. */
  static merged(older: Cookies, newer: Cookies): Cookies | undefined {
    if (!(older instanceof SessionCookies && newer instanceof SessionCookies)) return undefined;
    return SessionCookies.#joined(older, newer) as unknown as Cookies;
  }

  static #joined(older: SessionCookies | undefined, newer: SessionCookies): SessionCookies {
    if (older === undefined) return newer;
    const rest = SessionCookies.#joined(older.#next, newer);
    if (Object.hasOwn(newer, older.#signer.name)) return rest;
    return new SessionCookies(older.#signer, older.#sessionId, older.#given, older.#value, rest);
  }

  #by(signer: CookieSigner): SessionCookies | undefined {
    for (let each: SessionCookies | undefined = this; each; each = each.#next)
      if (each.#signer === signer) return each;
    return undefined;
  }
}

// One property for all cookies of a signer, so that they are of one shape.
const properties = new WeakMap<CookieSigner, PropertyDescriptor>();

function propertyOf(signer: CookieSigner): PropertyDescriptor {
  let property = properties.get(signer);
  if (!property) {
    const get = function (this: SessionCookies) {
      return SessionCookies.valueIn(this, signer);
    };
    property = { get, enumerable: true, configurable: true };
    properties.set(signer, property);
  }
  return property;
}
