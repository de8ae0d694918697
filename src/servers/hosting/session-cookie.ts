import { createHash, createHmac, timingSafeEqual } from "node:crypto";

const MAX_AGE_SECONDS = 1_209_600;
/** A younger cookie is returned unchanged instead of being signed again. */
const FRESH_SECONDS = 60;

/** Maximum number of remembered cookies per generation: two generations use about 2 MB. */
const GENERATION_SIZE = 4_096;

interface Signed {
  id: string;
  second: number;
}

/** Attributes of every session cookie. */
export const SESSION_COOKIE_ATTRIBUTES = `; path=/; Max-Age=${MAX_AGE_SECONDS}; httponly; samesite=lax`;

/**
 * The signed cookie that ties requests to a session. Its name is also its secret, as in the Python original, so that
 * servers of both kinds can read each other's cookies. It separates sessions; it does not protect them.
 */
export class SessionCookie {
  readonly name: string;
  readonly #key: Buffer;
  /** The latest signed cookies. Most return within seconds and then need no new signature. */
  #signed = new Map<string, Signed>();
  /** The previous generation. Dropping a whole generation is cheaper than dropping single entries. */
  #signedBefore = new Map<string, Signed>();

  constructor(name: string) {
    this.name = name;
    this.#key = createHash("sha1").update(`itsdangerous.Signersigner${name}`).digest();
  }

  sign(sessionId: string, nowMs: number = steadyTime()): string {
    const payload = Buffer.from(`{"session_id": ${JSON.stringify(sessionId)}}`).toString("base64");
    const second = Math.floor(nowMs / 1000);
    const text = `${payload}.${encodeSeconds(second)}`;
    const value = `${text}.${this.#signature(text)}`;
    if (this.#signed.size >= GENERATION_SIZE) {
      this.#signedBefore = this.#signed;
      this.#signed = new Map();
    }
    this.#signed.set(value, { id: sessionId, second });
    return value;
  }

  /** The session id of a cookie value; undefined when the cookie is forged, expired or malformed. */
  read(
    value: string | undefined,
    nowMs: number = steadyTime(),
  ): { id: string; isFresh: boolean } | undefined {
    if (value === undefined) return undefined;
    const signed = this.#signed.get(value) ?? this.#signedBefore.get(value) ?? this.#verified(value);
    if (signed === undefined) return undefined;
    const age = Math.floor(nowMs / 1000) - signed.second;
    return age > MAX_AGE_SECONDS ? undefined : { id: signed.id, isFresh: age < FRESH_SECONDS };
  }

  #verified(value: string): Signed | undefined {
    const [payload, timestamp, signature, ...rest] = value.split(".");
    if (!payload || !timestamp || !signature || rest.length > 0) return undefined;
    if (!sameText(this.#signature(`${payload}.${timestamp}`), signature)) return undefined;
    const id = sessionIdOf(payload);
    return id === undefined ? undefined : { id, second: decodeSeconds(timestamp) };
  }

  #signature(text: string): string {
    return createHmac("sha1", this.#key).update(text).digest("base64url");
  }
}

/** The time of day at the start of the process plus the time since then: a clock change does not age cookies. */
function steadyTime(): number {
  return performance.timeOrigin + performance.now();
}

function sessionIdOf(payload: string): string | undefined {
  try {
    const data: unknown = JSON.parse(Buffer.from(payload, "base64").toString());
    const id = (data as { session_id?: unknown } | null)?.session_id;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

function encodeSeconds(seconds: number): string {
  const bytes: number[] = [];
  for (let rest = seconds; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from(bytes).toString("base64url");
}

function decodeSeconds(text: string): number {
  let seconds = 0;
  for (const byte of Buffer.from(text, "base64url")) seconds = seconds * 256 + byte;
  return seconds;
}

/** Compares a secret with a given text in constant time. */
export function sameText(secret: string, given: unknown): boolean {
  if (typeof given !== "string") return false;
  const a = Buffer.from(secret);
  const b = Buffer.from(given);
  return a.length === b.length && timingSafeEqual(a, b);
}
