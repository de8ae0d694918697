import { getCloseMatches } from "../base/python/door.ts";
import { suggest, suggestMisspelt } from "../base/suggest.ts";
import { AlmostServerError, ConfigError, place } from "./errors.ts";
import { formatPath, type KeyPath, rawNodeAt, scalarsIn, splitKey } from "./key-path.ts";
import { type ConfigNode, type DictNode, positionOf } from "./node.ts";
import { referencedKeys } from "./provenance.ts";
import { isReservedKey, keysInUse } from "./reserved-keys.ts";
import type { SchemaProblem } from "./schema-problems.ts";
import type { AlmostServer, ServerBlock } from "./servers/server-schema.ts";
import { isServerType, serverTypes } from "./servers/server-types.ts";

/**
 * Finds plain data that is probably meant as a server or a reference to one. It is valid but has no effect. `isPart`: the
 * config may be a part of a larger one, with settings for servers that another file defines.
 */
export function likelyMistakes(
  root: DictNode,
  servers: readonly ServerBlock[],
  { isPart = false }: { isPart?: boolean | undefined } = {},
): string[] {
  const names = new Set(servers.map(({ name }) => name));
  return [
    ...misspeltServers(root),
    ...settingsWithoutServer(root, names, isPart),
    ...servers.flatMap((server) => [...misspeltReferences(server)]),
  ];
}

/** Minimum similarity of a key and a known key for a misspelling. */
const KEY_SIMILARITY = 0.9;
/** Short words are similar by chance. */
const SHORTEST_KEY = 6;

/** Rejects an unused top-level key that is probably misspelt, because a limit or budget would be ignored. */
export function rejectMisspeltKeys(root: DictNode, servers: readonly ServerBlock[]): void {
  const names = new Set(servers.map(({ name }) => name));
  const candidates = keysInUse.filter((key) => key.length >= SHORTEST_KEY);
  let references: ReadonlySet<string> | undefined;
  for (const [key, node] of root.entries) {
    const name = String(key);
    if (names.has(name) || keysInUse.includes(name)) continue;
    const [nearest] = getCloseMatches(name, candidates, 1, KEY_SIMILARITY);
    if (nearest === undefined) continue;
    references ??= referencedNames(root);
    if (references.has(name)) continue;
    const position = positionOf(node);
    throw new ConfigError(`Nothing reads the key '${name}'${place(position)}. Did you mean '${nearest}'?`, {
      code: "CONFIG_KEY_MISSPELT",
      position,
    });
  }
}

/** First parts of all keys that interpolations refer to. */
function referencedNames(root: DictNode): Set<string> {
  const names = new Set<string>();
  for (const { node, path } of scalarsIn(root))
    for (const key of referencedKeys(node, path)) names.add(String(splitKey(key)[0]));
  return names;
}

/** Settings for an instance that no config defines, such as an override with a wrong name. */
function* settingsWithoutServer(
  root: DictNode,
  servers: ReadonlySet<string>,
  isPart: boolean,
): Generator<string> {
  for (const [key, node] of root.entries) {
    const name = String(key);
    if (node.kind !== "dict" || servers.has(name) || isReservedKey(name)) continue;
    if (isPart && getCloseMatches(name, [...servers], 1, KEY_SIMILARITY).length === 0) continue;
    for (const [type, blocks] of node.entries) {
      if (!isServerType(String(type)) || blocks.kind !== "dict" || hasEntrypoint(blocks)) continue;
      const nearest = suggest(name, [...servers]);
      const hint = nearest === undefined ? "" : ` Did you mean '${nearest}'?`;
      yield `'${name}' is not a server: its settings have no entrypoint${place(positionOf(node))}. Add the config that defines '${name}'.${hint}`;
    }
  }
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
        yield `'${name}.${type}' is ${found}, not a mapping of an implementation to its settings, so '${name}' is not a server${place(positionOf(member))}.`;
      } else if (hasEntrypoint(member)) {
        yield `'${name}' is not a server: '${type}' is not a server type${place(positionOf(member))}.${nearestType(type)}`;
      }
    }
  }
}

function hasEntrypoint(node: ConfigNode): boolean {
  if (node.kind !== "dict") return false;
  return [...node.entries.values()].some((block) => block.kind === "dict" && block.entries.has("entrypoint"));
}

/** Reports only types that are similar to a server type, because any mapping may have `type` and `name`. */
function* misspeltReferences({ name, type, implementation, block }: ServerBlock): Generator<string> {
  for (const [field, node] of block.entries) {
    if (node.kind !== "dict" || !node.entries.has("name")) continue;
    const value = node.entries.get("type");
    if (value?.kind !== "scalar" || typeof value.value !== "string" || isServerType(value.value)) continue;
    const hint = nearestType(value.value);
    const path: KeyPath = [name, type, implementation, String(field)];
    if (hint !== "")
      yield `'${formatPath(path)}' refers to no server: '${value.value}' is not a server type${place(positionOf(value))}.${hint}`;
  }
}

function nearestType(word: string): string {
  const close = suggestMisspelt(word, serverTypes);
  return close === undefined ? "" : ` Did you mean '${close}'?`;
}

const RULE = "=".repeat(72);

/** The framed warning about blocks that look like servers. */
export function almostServersNotice(almostServers: readonly AlmostServer[]): string {
  const sections = almostServers.map((server) =>
    [
      `Almost-Server Detected: '${server.name}'`,
      ...server.problems.map(
        (problem) => `  - ${problem.path.join(" -> ")}: ${problem.message}${where(server, problem)}`,
      ),
      "  This server will NOT be started.",
    ].join("\n"),
  );
  return [RULE, "Configuration Warnings: Almost-Servers Detected", RULE, sections.join("\n\n"), RULE].join(
    "\n",
  );
}

/** `maskedYaml` shows the blocks with secrets masked. */
export function almostServersError(
  almostServers: readonly AlmostServer[],
  maskedYaml: string,
): AlmostServerError {
  return new AlmostServerError(
    `${almostServers.length} almost-server(s) found: ${almostServers.map(({ name }) => `'${name}'`).join(", ")}. ` +
      "Correct the fields listed above, or pass ++error_on_almost_servers=false to start without them.\n" +
      maskedYaml,
    { position: positionOf(almostServers[0]?.node) },
  );
}

/** The position of the value, or of the block in which it is missing. */
function where({ node }: AlmostServer, { path }: SchemaProblem): string {
  return place(positionOf(rawNodeAt(node, path) ?? rawNodeAt(node, path.slice(0, -1))));
}
