import {
  hidesContents,
  isSecretFlag,
  isSecretName,
  MASK,
  maskScalar,
  redactor,
  secretsIn,
} from "../base/secrets.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import type { KeyPath } from "./key-path.ts";
import { type ConfigNode, cloneNode, type DictKey, type DictNode } from "./node.ts";
import { nodeFromPlain, plainFromNode } from "./plain-data.ts";

/**
 * Masks the secrets of a config in place. This resolves all interpolations, so it reports broken ones. An interpolation
 * of a masked value shows the mask when it is resolved later.
 */
export function maskConfig(root: DictNode, env: NodeJS.ProcessEnv): void {
  const interpolator = new Interpolator(root, env);
  const redact = redactor(secretsIn(plainFromNode(interpolator.resolveDeep(root, []))));
  new ConfigMasker(interpolator, redact).maskDict(root, []);
}

/** A copy of a config with its secrets masked. */
export function maskedCopy(root: DictNode, env: NodeJS.ProcessEnv): DictNode {
  const copy = cloneNode(root);
  maskConfig(copy, env);
  return copy;
}

class ConfigMasker {
  readonly #interpolator: Interpolator;
  readonly #redact: (text: string) => string;

  constructor(interpolator: Interpolator, redact: (text: string) => string) {
    this.#interpolator = interpolator;
    this.#redact = redact;
  }

  /** `hiddenBelow` is the name of an outer container whose whole content is secret. */
  maskDict(node: DictNode, path: KeyPath, hiddenBelow?: DictKey): void {
    for (const [key, member] of node.entries) {
      const name = hiddenBelow ?? key;
      node.entries.set(key, this.#masked(member, name, path.at(-1), [...path, String(key)], hiddenBelow));
    }
  }

  #masked(
    node: ConfigNode,
    name: DictKey,
    parent: string | number | undefined,
    path: KeyPath,
    hiddenBelow?: DictKey,
  ): ConfigNode {
    const below = hiddenBelow ?? (hidesContents(name) ? name : undefined);
    if (node.kind === "dict") this.maskDict(node, path, below);
    else if (node.kind === "list") {
      const flags = node.items.map((item) => (item.kind === "scalar" ? item.value : undefined));
      for (const [index, item] of node.items.entries()) {
        const word = flags[index - 1];
        node.items[index] = isSecretFlag(word)
          ? nodeFromPlain(MASK, item.origin)
          : this.#masked(item, name, parent, [...path, index], below);
      }
    } else {
      const { node: value } = this.#interpolator.resolve(node, path);
      // A container that an interpolation refers to is masked where it is defined.
      if (value.kind === "dict") return node;
      if (value.kind === "list")
        return isSecretName(name, parent)
          ? nodeFromPlain(
              value.items.map(() => MASK),
              node.origin,
            )
          : node;
      const masked = maskScalar(node.value, name, parent);
      const text = typeof masked === "string" ? this.#redact(masked) : masked;
      return text === node.value ? node : { ...node, value: text };
    }
    return node;
  }
}
