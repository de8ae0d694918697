import type { Cookies } from "../cookies.ts";

/** A call; its body follows as text. One that has only its id takes the call back. */
export type CallHead = readonly [
  id: number,
  server: string,
  method: string,
  path: string,
  cookies: Cookies,
  headers: Readonly<Record<string, string>>,
];

/** An answer; its body follows as text. */
export type ReplyHead = readonly [
  id: number,
  status: number,
  cookies: Cookies,
  headers: Readonly<Record<string, string>>,
];

/** What one call or answer may weigh, as over HTTP. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
