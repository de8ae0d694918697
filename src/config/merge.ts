import { ConfigError, ConfigInterpolationError, place } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import { formatPath, type KeyPath } from "./key-path.ts";
import {
  type ConfigNode,
  cloneNode,
  type DictNode,
  interpolationText,
  isMissing,
  positionOf,
  setEntry,
} from "./node.ts";

/** Data to resolve interpolations during a merge: the config that is being built, and the current path in it. */
interface MergeContext {
  root: DictNode;
  path: KeyPath;
  env: NodeJS.ProcessEnv;
}

/**
 * Merges `source` into `target` in place: later values replace earlier ones, mappings are merged deeply, lists
 * replaced.
 */
export function mergeDicts(target: DictNode, source: DictNode, context: MergeContext): void {
  for (const [key, incoming] of source.entries) {
    const path = [...context.path, String(key)];
    const existing = target.entries.get(key);
    if (existing === undefined) setEntry(target.entries, key, cloneNode(incoming));
    else target.entries.set(key, mergeNodes(existing, incoming, { ...context, path }));
  }
}

/** Merges two values. Changes `existing` if both are mappings. */
export function mergeNodes(existing: ConfigNode, incoming: ConfigNode, context: MergeContext): ConfigNode {
  // A later `???` does not remove an existing value.
  if (isMissing(incoming)) return existing;
  if (incoming.kind === "scalar") return incoming;
  const current = existing.kind === "scalar" ? containerBehind(existing, context) : existing;
  if (current === undefined) return cloneNode(incoming);
  if (current.kind !== incoming.kind) throw shapeConflict(current, incoming, context.path);
  if (current.kind === "dict" && incoming.kind === "dict") {
    mergeDicts(current, incoming, context);
    return current;
  }
  return cloneNode(incoming);
}

/** A copy of the mapping or list that an interpolation refers to at this moment; undefined for other nodes. */
function containerBehind(node: ConfigNode, { root, path, env }: MergeContext): ConfigNode | undefined {
  if (interpolationText(node) === undefined) return undefined;
  try {
    const target = new Interpolator(root, env).resolve(node, path).node;
    return target.kind === "scalar" ? undefined : cloneNode(target);
  } catch (error) {
    // Later sources may define the target. A broken interpolation is reported at the end.
    if (error instanceof ConfigInterpolationError) return undefined;
    throw error;
  }
}

function shapeConflict(existing: ConfigNode, incoming: ConfigNode, path: KeyPath): ConfigError {
  const describe = (node: ConfigNode) =>
    `${node.kind === "list" ? "a list" : "a mapping"}${place(positionOf(node))}`;
  return new ConfigError(
    `Cannot merge ${describe(incoming)} into ${describe(existing)} at '${formatPath(path)}'.`,
    { code: "CONFIG_MERGE", position: positionOf(incoming) },
  );
}
