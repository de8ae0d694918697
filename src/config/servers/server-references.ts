import { getCloseMatches } from "../../python/difflib.ts";
import { place, ServerRefNotFoundError } from "../errors.ts";
import type { Interpolator, Located } from "../interpolation/interpolate.ts";
import { childOf } from "../key-path.ts";
import { positionOf, scalar } from "../node.ts";
import { aliasedInstance } from "./aliases.ts";
import type { ServerBlock } from "./server-schema.ts";
import { isServerType, type ServerType } from "./server-types.ts";

/** Reads every direct field of every server, and checks those that refer to another server. */
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

interface Reference {
  type: ServerType;
  name: string;
}

/** A mapping with a server type as `type` and a text as `name`; anything else is plain data. */
function readReference(value: Located, interpolator: Interpolator): Reference | undefined {
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

/** The most common cause: environments leave the choice of the model to the user. */
const NO_MODEL =
  ". Choose the model: --model-type openai_model (`gym list models` shows all) or the config of one with --config.";

function notFound(
  server: ServerBlock,
  field: string,
  { type, name }: Reference,
  names: readonly string[],
  value: Located,
): ServerRefNotFoundError {
  // The name is what is wrong, and may come from elsewhere than the rest: from the command line, for one.
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
