import type { Cookies } from "./cookies.ts";

/** Who signs the cookies of one server. */
export interface CookieSigner {
  readonly name: string;
  /** The cookie of a session; `given`, which came with the request, may do. */
  sign(sessionId: string, given?: string): string;
}

interface Entry {
  readonly signer: CookieSigner;
  readonly sessionId: string;
  readonly given: string | undefined;
  value: string | undefined;
}

/**
 * Cookies that are signed when somebody reads them. Servers of one process know each other's sessions without: signatures are for
 * those who are elsewhere.
 */
export class SessionCookies {
  readonly #entries: readonly Entry[];

  private constructor(entries: readonly Entry[]) {
    this.#entries = entries;
    for (const { signer } of entries) Object.defineProperty(this, signer.name, propertyOf(signer));
  }

  static of(signer: CookieSigner, sessionId: string, given: string | undefined): Cookies {
    return new SessionCookies([{ signer, sessionId, given, value: undefined }]) as unknown as Cookies;
  }

  /** The session that the cookies name for this signer; undefined when they have to be read. */
  static sessionIn(cookies: Cookies, signer: CookieSigner): string | undefined {
    return SessionCookies.#entryIn(cookies, signer)?.sessionId;
  }

  static valueIn(cookies: SessionCookies, signer: CookieSigner): string | undefined {
    const entry = SessionCookies.#entryIn(cookies, signer);
    if (entry) entry.value ??= signer.sign(entry.sessionId, entry.given);
    return entry?.value;
  }

  static #entryIn(cookies: Cookies | SessionCookies, signer: CookieSigner): Entry | undefined {
    if (!(cookies instanceof SessionCookies)) return undefined;
    for (const entry of cookies.#entries) if (entry.signer === signer) return entry;
    return undefined;
  }

  /** Both, the newer ones winning, none of them signed for it; undefined when one of them is of another kind. */
  static merged(older: Cookies, newer: Cookies): Cookies | undefined {
    if (!(older instanceof SessionCookies && newer instanceof SessionCookies)) return undefined;
    const kept = older.#entries.filter(({ signer }) => !Object.hasOwn(newer, signer.name));
    if (kept.length === 0) return newer as unknown as Cookies;
    return new SessionCookies([...kept, ...newer.#entries]) as unknown as Cookies;
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
