import { getCloseMatches } from "../../base/python/door.ts";
import { ConfigError, place, ServerRefNotFoundError } from "../errors.ts";
import type { Interpolator, Located } from "../interpolation/interpolate.ts";
import { childOf, rawNodeAt } from "../key-path.ts";
import { type ConfigNode, positionOf, scalar, textOfNode } from "../node.ts";
import { aliasedInstance } from "./aliases.ts";
import type { ServerBlock } from "./server-schema.ts";
import { isServerType, type ServerType } from "./server-types.ts";

/** Resolves every direct field of every server, and checks those that refer to another server. */
export function checkServerReferences(
  servers: readonly ServerBlock[],
  interpolator: Interpolator,
  onNotice: (text: string) => void,
): void {
  for (const server of servers) {
    const path = [server.name, server.type, server.implementation];
    for (const [field, node] of server.block.entries) {
      const value = interpolator.resolve(node, [...path, String(field)]);
      const reference = readReference(value, interpolator);
      if (reference === undefined || exists(servers, reference)) continue;
      const names = namesOfType(servers, reference.type);
      const renamed = aliasedInstance(reference.name, new Set(names));
      if (renamed === undefined) throw notFound(server, String(field), reference, names, value);
      if (value.node.kind === "dict") value.node.entries.set("name", scalar(renamed, value.node.origin));
      onNotice(`'${reference.name}' is now called '${renamed}' (${server.name}, field '${String(field)}').`);
    }
  }
}

export interface Reference {
  type: ServerType;
  name: string;
}

/** A reference is a mapping with a server type as `type` and a text as `name`. Other values are plain data. */
export function readReference(value: Located, interpolator: Interpolator): Reference | undefined {
  if (value.node.kind !== "dict") return undefined;
  const type = member(value, "type", interpolator);
  if (!isServerType(type)) return undefined;
  const name = member(value, "name", interpolator);
  return typeof name === "string" ? { type, name } : undefined;
}

function member({ node, path }: Located, key: string, interpolator: Interpolator): unknown {
  const child = childOf(node, key)?.node;
  const resolved = child && interpolator.resolve(child, [...path, key]).node;
  return resolved?.kind === "scalar" ? resolved.value : undefined;
}

function exists(servers: readonly ServerBlock[], { type, name }: Reference): boolean {
  return servers.some((server) => server.type === type && server.name === name);
}

function namesOfType(servers: readonly ServerBlock[], type: ServerType): string[] {
  return servers.filter((server) => server.type === type).map(({ name }) => name);
}

/** The most common cause: the user has to choose the model of an environment. */
const NO_MODEL =
  ". Choose the model: --model-type openai_model (`gym list models` shows all), -m openai/NAME, or the config of one with --config.";

function notFound(
  server: ServerBlock,
  field: string,
  { type, name }: Reference,
  names: readonly string[],
  value: Located,
): ServerRefNotFoundError {
  // The name is wrong. It may come from another source than the rest, for example from the command line.
  const position = positionOf(childOf(value.node, "name")?.node ?? value.node);
  const close = getCloseMatches(name, names, 3);
  const quote = (list: readonly string[]) => list.map((item) => `'${item}'`).join(", ");
  const available = names.length === 0 ? "(none)" : quote(names.toSorted());
  const listed = `Available ${type}: ${available}${type === "responses_api_models" && names.length === 0 ? NO_MODEL : ""}`;
  const hint = close.length > 0 ? `Did you mean: ${quote(close)}?` : listed;
  return new ServerRefNotFoundError(
    `In server instance '${server.name}', field '${field}' refers to ${type}/'${name}', which is not configured${place(position)}. ${hint}`,
    { position },
  );
}

/** Rejects agents that a resources server does not list in `allowed_agents`. */
export function checkPairing(
  servers: readonly ServerBlock[],
  env: NodeJS.ProcessEnv,
  allowed: boolean,
): void {
  if (allowed || !["", "0", "false", undefined].includes(env["NEMO_GYM_ALLOW_UNSUPPORTED_PAIRING"])) return;
  const lines: string[] = [];
  const lists: string[][] = [];
  for (const { name, implementation, block } of servers.filter(
    ({ type }) => type === "responses_api_agents",
  )) {
    const resources = textOfNode(rawNodeAt(block, ["resources_server", "name"]));
    const server = servers.find((other) => other.type === "resources_servers" && other.name === resources);
    const list = textsOf(server?.block.entries.get("allowed_agents"));
    if (list.length === 0 || list.includes(implementation)) continue;
    lists.push(list);
    lines.push(`  - '${name}' is a ${implementation}; '${resources}' accepts ${list.join(", ")}`);
  }
  const [first, ...others] = lists;
  if (first === undefined) return;
  const common = first.filter((name) => others.every((list) => list.includes(name)));
  const remedy =
    common.length > 0
      ? `Select one of: ${common.join(", ")} (--agent-type).`
      : "No single agent satisfies all of them.";
  throw new ConfigError(
    `These agents do not fit their environments:\n${lines.join("\n")}\n${remedy} ` +
      "To run the pairing anyway, use --allow-unsupported-pairing or NEMO_GYM_ALLOW_UNSUPPORTED_PAIRING=1.",
    { code: "CONFIG_PAIRING" },
  );
}

/** The texts of a list. A single text counts as a list. */
function textsOf(node: ConfigNode | undefined): string[] {
  const items = node?.kind === "list" ? node.items : node === undefined ? [] : [node];
  return items.map(textOfNode).filter((text) => text !== undefined);
}
