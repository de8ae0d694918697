import { isSecretKey, MASK } from "../secret-names.ts";
import type { Interpolator } from "./interpolation/interpolate.ts";
import type { KeyPath } from "./key-path.ts";
import { type ConfigNode, type DictNode, list, scalar } from "./node.ts";

/**
 * A copy of plain data with the values of secret keys replaced: scalars and null by `****`, lists by as many.
 *
 * A secret that an interpolation carried under another name is not recognised here; for a config use
 * `toObject({ hideSecrets: true })`.
 */
export function maskSecrets<T>(value: T): T;
export function maskSecrets(value: unknown): unknown {
  return maskBelow(undefined, value);
}

function maskBelow(parent: string | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (isContainer(item) ? maskSecrets(item) : item));
  if (!isContainer(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => [
    key,
    isSecretKey(key, parent) ? masked(key, member) : maskBelow(key, member),
  ]);
  return Object.fromEntries(entries);
}

function masked(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map(() => MASK);
  return isContainer(value) ? maskBelow(key, value) : MASK;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Masks a config in place. Interpolations are read on the way, so a broken one anywhere in a mapping is reported, and
 * one that leads to a masked value shows the mask when it is resolved later.
 */
export function maskConfig(root: DictNode, interpolator: Interpolator): void {
  maskDict(root, [], interpolator);
}

function maskDict(node: DictNode, path: KeyPath, interpolator: Interpolator): void {
  for (const [key, member] of node.entries) {
    const here = [...path, String(key)];
    const { node: value } = interpolator.resolve(member, here);
    if (value.kind === "dict") {
      // What an interpolation leads to is masked where it lives.
      if (member.kind === "dict") maskDict(member, here, interpolator);
    } else if (isSecretKey(key, path.at(-1))) node.entries.set(key, maskOf(value, member));
    else if (member.kind === "list") maskItems(member.items, here, interpolator);
  }
}

function maskItems(items: readonly ConfigNode[], path: KeyPath, interpolator: Interpolator): void {
  for (const [index, item] of items.entries()) {
    if (item.kind === "dict") maskDict(item, [...path, index], interpolator);
    if (item.kind === "list") maskItems(item.items, [...path, index], interpolator);
  }
}

function maskOf(value: ConfigNode, { origin }: ConfigNode): ConfigNode {
  if (value.kind === "list")
    return list(
      origin,
      value.items.map(() => scalar(MASK, origin)),
    );
  return scalar(MASK, origin);
}
