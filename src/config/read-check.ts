import type { Interpolator } from "./interpolation/interpolate.ts";
import type { KeyPath } from "./key-path.ts";
import type { ConfigNode, DictNode } from "./node.ts";

/**
 * Interpolations are resolved when they are read. These checks read what every user of a config will read, so that a
 * broken one is reported now and not in the middle of a run; what is nested deeper waits until somebody needs it.
 */

/** Reads every top-level value. */
export function checkTopLevel(root: DictNode, interpolator: Interpolator): void {
  for (const [key, node] of root.entries) interpolator.resolve(node, [String(key)]);
}

/** Reads every single value that stands in a list, at any depth. */
export function checkListElements(node: ConfigNode, interpolator: Interpolator, path: KeyPath = []): void {
  if (node.kind === "dict")
    for (const [key, member] of node.entries) checkListElements(member, interpolator, [...path, String(key)]);
  if (node.kind === "list") {
    for (const [index, item] of node.items.entries()) {
      if (item.kind === "scalar") interpolator.resolve(item, [...path, index]);
      else checkListElements(item, interpolator, [...path, index]);
    }
  }
}
