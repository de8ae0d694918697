import { pyStr } from "../../base/python/door.ts";
import { ConfigError } from "../errors.ts";
import type { ConfigNode, DictNode } from "../node.ts";
import { type ParsedOverride, parseOverride } from "./override-grammar.ts";

/** Texts of only these characters need no quotes, unless they are also other values (`1`, `true`). */
const PLAIN = /^[A-Za-z0-9_./:@%*?|+-]+$/;

/** Quotes a text so that the override grammar reads it unchanged. */
export function quoteOverride(text: string): string {
  const escaped = text.replace(/(\\*)('|$)/g, (_, slashes: string, end: string) => {
    return slashes + slashes + (end === "'" ? "\\'" : "");
  });
  return `'${escaped.replaceAll("${", "\\${")}'`;
}

/** The overrides that set the values of a mapping: `+a.b=value` for each value. Nested mappings are flattened. */
export function writeOverrides(values: DictNode): string[] {
  return [...wordsOf(values, "")];
}

function* wordsOf(values: DictNode, prefix: string): Generator<string> {
  for (const [key, member] of values.entries) {
    const path = `${prefix}${key}`;
    if (member.kind === "dict" && member.entries.size > 0 && hasOnlyPathKeys(member))
      yield* wordsOf(member, `${path}.`);
    else yield checked(`+${path}=${writeValue(member)}`, member);
  }
}

/** Whether every key is valid in a dotted path. Other keys are written inside `{…}`. */
function hasOnlyPathKeys(values: DictNode): boolean {
  return [...values.entries.keys()].every((key) => parsed(`+a.${key}=1`)?.key === `a.${key}`);
}

function writeValue(node: ConfigNode): string {
  if (node.kind === "list") return `[${node.items.map(writeValue).join(",")}]`;
  if (node.kind === "dict") {
    return `{${[...node.entries].map(([key, member]) => `${key}:${writeValue(member)}`).join(",")}}`;
  }
  if (node.value === null) return "null";
  if (typeof node.value === "boolean") return String(node.value);
  return typeof node.value === "string" ? writeText(node.value) : pyStr(node.value);
}

function writeText(text: string): string {
  if (!PLAIN.test(text)) return quoteOverride(text);
  const value = parseOverride(`+a=${text}`).value;
  return value?.kind === "scalar" && value.value === text ? text : quoteOverride(text);
}

/** Rejects an override whose keys would be read differently: texts can be quoted, but keys cannot. */
function checked(word: string, meant: ConfigNode): string {
  const read = parsed(word)?.value;
  if (read !== undefined && JSON.stringify(keysOf(read)) === JSON.stringify(keysOf(meant))) return word;
  throw new ConfigError(
    `'${word.slice(1, word.indexOf("="))}' cannot be written as an override: a key contains characters other than letters, digits, '_' and '-'.`,
    { code: "CONFIG_OVERRIDE" },
  );
}

/** The keys at every level, for a comparison. */
function keysOf(node: ConfigNode): unknown {
  if (node.kind === "scalar") return 0;
  if (node.kind === "list") return node.items.map(keysOf);
  return [...node.entries].map(([key, member]) => [String(key), keysOf(member)]);
}

function parsed(word: string): ParsedOverride | undefined {
  try {
    return parseOverride(word);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
