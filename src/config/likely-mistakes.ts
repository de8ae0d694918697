import { getCloseMatches } from "../python/difflib.ts";
import { place } from "./errors.ts";
import { formatPath, type KeyPath } from "./key-path.ts";
import { type ConfigNode, type DictNode, positionOf } from "./node.ts";
import { isReservedKey } from "./reserved-keys.ts";
import type { ServerBlock } from "./servers/server-schema.ts";
import { isServerType, serverTypes } from "./servers/server-types.ts";

/** How alike a word and a server type must be to be called a misspelling. */
const SIMILARITY = 0.75;

/** Plain data that was probably meant to be a server, or a reference to one: valid, and silently without effect. */
export function likelyMistakes(root: DictNode, servers: readonly ServerBlock[]): string[] {
  return [...misspeltServers(root), ...servers.flatMap((server) => [...misspeltReferences(server)])];
}

function* misspeltServers(root: DictNode): Generator<string> {
  for (const [key, node] of root.entries) {
    const name = String(key);
    if (node.kind !== "dict" || isReservedKey(name)) continue;
    for (const [typeKey, member] of node.entries) {
      const type = String(typeKey);
      if (isServerType(type)) {
        if (member.kind === "dict") continue;
        const found = member.kind === "list" ? "a list" : "a single value";
        yield `'${name}.${type}' is ${found}, not a mapping of an implementation to its settings, so '${name}' is no server${place(positionOf(member))}.`;
      } else if (hasEntrypoint(member)) {
        yield `'${name}' is no server: '${type}' is no server type${place(positionOf(member))}.${nearestType(type)}`;
      }
    }
  }
}

function hasEntrypoint(node: ConfigNode): boolean {
  if (node.kind !== "dict") return false;
  return [...node.entries.values()].some((block) => block.kind === "dict" && block.entries.has("entrypoint"));
}

/** Only what comes close to a server type: a mapping with `type` and `name` may be anything. */
function* misspeltReferences({ name, type, implementation, block }: ServerBlock): Generator<string> {
  for (const [field, node] of block.entries) {
    if (node.kind !== "dict" || !node.entries.has("name")) continue;
    const value = node.entries.get("type");
    if (value?.kind !== "scalar" || typeof value.value !== "string" || isServerType(value.value)) continue;
    const hint = nearestType(value.value);
    const path: KeyPath = [name, type, implementation, String(field)];
    if (hint !== "")
      yield `'${formatPath(path)}' refers to no server: '${value.value}' is no server type${place(positionOf(value))}.${hint}`;
  }
}

function nearestType(word: string): string {
  const [close] = getCloseMatches(word, serverTypes, 1, SIMILARITY);
  return close === undefined ? "" : ` Did you mean '${close}'?`;
}
