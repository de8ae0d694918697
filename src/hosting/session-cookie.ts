import { createHash, createHmac, randomFillSync, timingSafeEqual } from "node:crypto";

const MAX_AGE_SECONDS = 1_209_600;
/** A cookie is signed anew when it is older than this: nobody needs two weeks to the second. */
const AS_GOOD_AS_NEW_SECONDS = 60;
/** Twice as many are remembered at the most. */
const CACHE_ENTRIES = 16_384;

/** Attributes every session cookie carries. */
export const SESSION_COOKIE_ATTRIBUTES = `; path=/; Max-Age=${MAX_AGE_SECONDS}; httponly; samesite=lax`;

/**
 * The signed cookie that ties requests to a session. Its name is also its secret, as in the original, so that servers
 * of both kinds can read each other's cookies; it keeps sessions apart, it does not protect them.
 */
export class SessionCookie {
  readonly name: string;
  readonly #key: Buffer;
  readonly #read = new RecentValues<{ sessionId: string; signedAt: number }>();

  constructor(name: string) {
    this.name = name;
    this.#key = createHash("sha1").update(`itsdangerous.Signersigner${name}`).digest();
  }

  /** The cookie of a session; `given`, which came with the request, is as good as a new one for a while. */
  sign(sessionId: string, given?: string, nowMs: number = Date.now()): string {
    const second = Math.floor(nowMs / 1000);
    if (given !== undefined) {
      const known = this.#read.get(given);
      if (known?.sessionId === sessionId && second - known.signedAt < AS_GOOD_AS_NEW_SECONDS) return given;
    }
    const payload = Buffer.from(`{"session_id": ${JSON.stringify(sessionId)}}`).toString("base64");
    const value = this.#signed(`${payload}.${encodeSeconds(second)}`);
    this.#read.set(value, { sessionId, signedAt: second });
    return value;
  }

  /** The session id of a cookie value; undefined when it is forged, expired or malformed. */
  read(value: string | undefined, nowMs: number = Date.now()): string | undefined {
    if (value === undefined) return undefined;
    const now = Math.floor(nowMs / 1000);
    const known = this.#read.get(value);
    if (known) return now - known.signedAt <= MAX_AGE_SECONDS ? known.sessionId : undefined;
    const parts = value.split(".");
    const [payload, timestamp, signature] = parts;
    if (parts.length !== 3 || !payload || !timestamp || !signature) return undefined;
    if (!sameText(this.#signed(`${payload}.${timestamp}`), value)) return undefined;
    const signedAt = decodeSeconds(timestamp);
    if (now - signedAt > MAX_AGE_SECONDS) return undefined;
    const sessionId = sessionIdOf(payload);
    if (sessionId !== undefined) this.#read.set(value, { sessionId, signedAt });
    return sessionId;
  }

  #signed(text: string): string {
    return `${text}.${createHmac("sha1", this.#key).update(text).digest("base64url")}`;
  }
}

const RANDOM = Buffer.alloc(256 * 16);
let randomUsed = RANDOM.length;
const HEX_DIGITS = Buffer.from("0123456789abcdef");
const UUID = Buffer.from("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
const DIGIT_PLACES = [...UUID.keys()].filter((place) => UUID[place] !== 0x2d);

/**
 * A new session id: a random UUID, as one piece of text. That of `randomUUID` consists of a dozen pieces, which all stay in memory
 * as long as nobody reads it whole, in every rollout that waits.
 */
export function newSessionId(): string {
  if (randomUsed === RANDOM.length) {
    randomFillSync(RANDOM);
    randomUsed = 0;
  }
  for (let index = 0; index < 16; index++) {
    let byte = RANDOM[randomUsed + index] ?? 0;
    if (index === 6) byte = (byte & 0x0f) | 0x40;
    else if (index === 8) byte = (byte & 0x3f) | 0x80;
    UUID[DIGIT_PLACES[2 * index] ?? 0] = HEX_DIGITS[byte >> 4] ?? 0;
    UUID[DIGIT_PLACES[2 * index + 1] ?? 0] = HEX_DIGITS[byte & 15] ?? 0;
  }
  randomUsed += 16;
  return UUID.toString("latin1");
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

let lastSecond = { seconds: 0, text: "" };

function encodeSeconds(seconds: number): string {
  if (lastSecond.seconds !== seconds) lastSecond = { seconds, text: encodedSeconds(seconds) };
  return lastSecond.text;
}

function encodedSeconds(seconds: number): string {
  const bytes: number[] = [];
  for (let rest = seconds; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from(bytes).toString("base64url");
}

function decodeSeconds(text: string): number {
  let seconds = 0;
  for (const byte of Buffer.from(text, "base64url")) seconds = seconds * 256 + byte;
  return seconds;
}

function sameText(expected: string, given: string): boolean {
  const a = Buffer.from(expected);
  const b = Buffer.from(given);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A bounded memory: what was asked for lately stays; forgetting costs a signature, never correctness. */
class RecentValues<V> {
  #newer = new Map<string, V>();
  #older = new Map<string, V>();

  get(key: string): V | undefined {
    const value = this.#newer.get(key);
    if (value !== undefined) return value;
    const old = this.#older.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    if (this.#newer.size >= CACHE_ENTRIES) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }
}
