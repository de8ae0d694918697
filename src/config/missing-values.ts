import { ConfigMissingValuesError } from "./errors.ts";
import { formatPath, type KeyPath } from "./key-path.ts";
import { type ConfigNode, isMissing, positionOf } from "./node.ts";

/** How many override examples the message shows. */
const EXAMPLES = 3;

/** Fails when a value that somebody must supply is still `???`. */
export function checkMissingValues(root: ConfigNode): void {
  const missing = [...missingValues(root, [])];
  const [first] = missing;
  if (first === undefined) return;
  const paths = missing.map(({ path }) => formatPath(path));
  throw new ConfigMissingValuesError(
    `${paths.length} required config value(s) are not set:\n${paths.map((path) => `  - ${path}\n`).join("")}` +
      `Set them in a config file or in env.yaml, or pass overrides such as:\n` +
      paths
        .slice(0, EXAMPLES)
        .map((path) => `  ++${path}=<value>`)
        .join("\n"),
    { position: positionOf(first.node) },
  );
}

/** Every `???` in config order. */
export function* missingValues(
  node: ConfigNode,
  path: KeyPath,
): Generator<{ path: KeyPath; node: ConfigNode }> {
  if (isMissing(node)) yield { path, node };
  if (node.kind === "list")
    for (const [index, item] of node.items.entries()) yield* missingValues(item, [...path, index]);
  if (node.kind === "dict")
    for (const [key, member] of node.entries) yield* missingValues(member, [...path, String(key)]);
}
