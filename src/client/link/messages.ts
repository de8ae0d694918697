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

/** An answer; its body follows as text, as a JSON string when it has line breaks. */
export type ReplyHead = readonly [id: number, status: number, cookies: Cookies, isQuoted: 0 | 1];

/** What one answer may weigh, as over HTTP. */
export const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
