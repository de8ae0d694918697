import { checkDataset } from "../dataset-schema.ts";
import type { ConfigNode, DictNode } from "../node.ts";
import { isReservedKey } from "../reserved-keys.ts";
import { FieldCheck, type SchemaProblem } from "../schema-problems.ts";
import { domains, isServerType, type ServerType, serverTypes } from "./server-types.ts";

/** A block of the config in the place of a server; `block` is the innermost mapping. */
export interface ServerBlock {
  name: string;
  type: ServerType;
  implementation: string;
  block: DictNode;
}

/** A block that looks like a server but does not fit the schema. */
export interface AlmostServer {
  name: string;
  node: DictNode;
  problems: SchemaProblem[];
}

interface SchemaOptions {
  /** Whether a resources server without `domain` is rejected, as in the Python original. */
  requireDomain?: boolean;
}

/** The server blocks of a config, valid or not, in config order. */
export function* serverBlocks(root: DictNode): Generator<ServerBlock> {
  for (const [name, instance] of root.entries) {
    if (instance.kind !== "dict") continue;
    for (const type of serverTypes) {
      const implementations = instance.entries.get(type);
      if (implementations?.kind !== "dict") continue;
      for (const [implementation, block] of implementations.entries)
        if (block.kind === "dict")
          yield { name: String(name), type, implementation: String(implementation), block };
    }
  }
}

/** The servers and almost-servers among the top-level blocks, in config order. Other blocks are plain data. */
export function classifyServers(
  root: DictNode,
  options: SchemaOptions = {},
): { servers: ServerBlock[]; almostServers: AlmostServer[] } {
  const servers: ServerBlock[] = [];
  const almostServers: AlmostServer[] = [];
  for (const [key, node] of root.entries) {
    const name = String(key);
    if (node.kind !== "dict" || isReservedKey(name)) continue;
    const attempts = [...node.entries.keys()]
      .filter(isServerType)
      .map((type) => checkInstance(name, type, node.entries.get(type), options));
    const valid = attempts.find(({ server }) => server !== undefined)?.server;
    if (valid !== undefined) servers.push(valid);
    else if (attempts.some(({ hasEntrypoint }) => hasEntrypoint))
      almostServers.push({ name, node, problems: attempts.flatMap(({ problems }) => problems) });
  }
  return { servers, almostServers };
}

interface Attempt {
  server?: ServerBlock;
  problems: SchemaProblem[];
  hasEntrypoint: boolean;
}

function checkInstance(
  name: string,
  type: ServerType,
  node: ConfigNode | undefined,
  options: SchemaOptions,
): Attempt {
  if (node?.kind !== "dict")
    return { problems: [{ path: [type], message: "Must be a mapping" }], hasEntrypoint: false };
  const blocks = [...node.entries];
  const hasEntrypoint = blocks.some(([, block]) => block.kind === "dict" && block.entries.has("entrypoint"));
  const problems = blocks.flatMap(([key, block]) => checkBlock(type, String(key), block, options));
  if (blocks.length !== 1)
    problems.push({
      path: [type],
      message: `Must have exactly one implementation, but has ${blocks.length}`,
    });
  const [first] = blocks;
  if (problems.length > 0 || first?.[1].kind !== "dict") return { problems, hasEntrypoint };
  const server = { name, type, implementation: String(first[0]), block: first[1] };
  return { server, problems, hasEntrypoint };
}

/** Checks the raw values: an interpolation is valid only where a text is. */
function checkBlock(
  type: ServerType,
  implementation: string,
  node: ConfigNode,
  options: SchemaOptions,
): SchemaProblem[] {
  const path = [type, implementation];
  if (node.kind !== "dict") return [{ path, message: "Must be a mapping" }];
  const check = new FieldCheck(node, path);
  check.text("entrypoint", "required");
  check.text("host");
  check.integer("port");
  check.integer("num_workers");
  check.oneOf("domain", domains);
  if (options.requireDomain === true && type === "resources_servers" && !check.has("domain"))
    check.report("domain", "A domain is required for resources servers");
  const datasets = check.get("datasets");
  if (!check.has("datasets") || datasets === undefined) return check.problems;
  if (datasets.kind !== "list") check.report("datasets", "Must be a list");
  const items = datasets.kind === "list" ? datasets.items : [];
  return [
    ...check.problems,
    ...items.flatMap((item, index) => checkDataset(item, [...path, "datasets", index])),
  ];
}
