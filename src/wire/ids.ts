import { randomUUID } from "node:crypto";

/** What an identifier names: a response, a message, a reasoning item, a function call item or a call. */
export type IdPrefix = "resp" | "msg" | "rs" | "fc" | "call";

/** Makes identifiers; converters take one so that tests can compare whole outputs. */
export type NewId = (prefix: IdPrefix) => string;

/** A fresh identifier: the prefix, an underscore and 32 hexadecimal digits. */
export const newId: NewId = (prefix) => `${prefix}_${randomUUID().replaceAll("-", "")}`;

/** A source of predictable identifiers (`msg_000…1`, `msg_000…2`) for tests. */
export function countingIds(): NewId {
  let count = 0;
  return (prefix) => `${prefix}_${(++count).toString(16).padStart(32, "0")}`;
}
