import { randomUUID } from "node:crypto";

/** The kind of an identifier: response, message, reasoning item, function call item or call. */
export type IdPrefix = "resp" | "msg" | "rs" | "fc" | "call";

/** Creates identifiers. Converters take it as an option, so that tests can compare whole outputs. */
export type NewId = (prefix: IdPrefix) => string;

/** A new identifier: the prefix, an underscore and 32 hexadecimal digits. */
export const newId: NewId = (prefix) => `${prefix}_${randomUUID().replaceAll("-", "")}`;

/** Creates predictable identifiers (`msg_000…1`, `msg_000…2`) for tests. */
export function countingIds(): NewId {
  let count = 0;
  return (prefix) => `${prefix}_${(++count).toString(16).padStart(32, "0")}`;
}
