import { isObject, type JsonObject, orderedKeys } from "../../base/python/json/door.ts";
import { textOf } from "./json-values.ts";

/** How tools that edit files name the replaced and the new text. */
const PAIRS = [
  ["old_str", "new_str"],
  ["old_string", "new_string"],
  ["old_text", "new_text"],
  ["search", "replace"],
] as const;
const PATHS = ["path", "file_path", "file", "filename"];

/** The arguments of a call that replaces text in a file: the edit as a patch, and the other arguments. */
export function editOf(value: unknown): { patch: string; others: JsonObject } | undefined {
  if (!isObject(value)) return undefined;
  for (const [before, after] of PAIRS) {
    const [old, next] = [value[before], value[after]];
    if (typeof old !== "string" || typeof next !== "string" || !`${old}${next}`.includes("\n")) continue;
    const others: JsonObject = {};
    for (const key of orderedKeys(value)) if (key !== before && key !== after) others[key] = value[key];
    const file = PATHS.map((key) => textOf(value[key])).find((each) => each !== undefined) ?? "text";
    return { patch: [`--- ${file}`, `+++ ${file}`, ...changedLines(old, next)].join("\n"), others };
  }
  return undefined;
}

/** The lines of both texts; those that both begin or end with are shown once. */
function changedLines(before: string, after: string): string[] {
  const [old, next] = [before.split("\n"), after.split("\n")];
  const least = Math.min(old.length, next.length);
  let start = 0;
  while (start < least && old[start] === next[start]) start++;
  let end = 0;
  while (end < least - start && old.at(-1 - end) === next.at(-1 - end)) end++;
  return [
    ...old.slice(0, start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...next.slice(start, next.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end).map((line) => ` ${line}`),
  ];
}
