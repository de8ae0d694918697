import { suggest } from "../../base/suggest.ts";
import { ConfigInterpolationError, place } from "../errors.ts";
import { childOf, formatPath, type KeyPath, rawNodeAt, scalarsIn, splitKey } from "../key-path.ts";
import {
  type ConfigNode,
  type DictNode,
  dict,
  interpolationText,
  isMissing,
  type ListNode,
  listNode,
  literalText,
  positionOf,
  scalar,
  setEntry,
} from "../node.ts";
import { nodeText } from "../plain-data.ts";
import {
  type Element,
  type Interpolation,
  type NodeReference,
  parseText,
  type ResolverCall,
  type TextParts,
} from "./interpolation-grammar.ts";
import { callResolver } from "./resolvers.ts";

/** A value and its path; relative interpolations inside it start there. */
export interface Located {
  node: ConfigNode;
  path: KeyPath;
}

/** Maximum length of a chain of interpolations. */
const MAX_CHAIN = 100;
/** Maximum number of values, and of characters, that interpolations may expand to. */
const MAX_VALUES = 200_000;
const MAX_TEXT = 10_000_000;
/** Maximum nesting of mappings and lists that interpolations create. */
const MAX_NESTING = 1000;

/** Resolves the interpolations of one config. Results are cached, so create a new one after changing the config. */
export class Interpolator {
  readonly root: DictNode;
  readonly env: NodeJS.ProcessEnv;
  readonly #known = new Map<string, Located>();
  readonly #chain = new Set<string>();
  readonly #open = new Set<ConfigNode>();
  #values = 0;

  constructor(root: DictNode, env: NodeJS.ProcessEnv) {
    this.root = root;
    this.env = env;
  }

  /** The value of `node`: itself, or the target of its interpolation. Values inside a container are not resolved. */
  resolve(node: ConfigNode, path: KeyPath): Located {
    const text = interpolationText(node);
    if (text === undefined) return { node, path };
    const id = path.join("\0");
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (this.#chain.has(id)) throw this.fail({ node, path }, "recursive interpolation detected");
    if (this.#chain.size >= MAX_CHAIN)
      throw this.fail({ node, path }, `more than ${MAX_CHAIN} interpolations refer to each other`);
    this.#chain.add(id);
    try {
      const result = this.#evaluateParts(parseText(text, positionOf(node)), { node, path });
      this.#known.set(id, result);
      return result;
    } finally {
      this.#chain.delete(id);
    }
  }

  /** A copy of `node` with every interpolation inside it resolved. */
  resolveDeep(node: ConfigNode, path: KeyPath): ConfigNode {
    const target = this.resolve(node, path);
    if (target.node.kind === "scalar") return target.node;
    if (this.#open.size === 0) this.#values = 0;
    if (++this.#values > MAX_VALUES)
      throw this.fail({ node, path }, `interpolations expand to more than ${MAX_VALUES} values`);
    if (this.#open.has(target.node)) throw this.fail({ node, path }, "recursive interpolation detected");
    if (this.#open.size > MAX_NESTING)
      throw this.fail({ node, path }, `interpolations nest deeper than ${MAX_NESTING} levels`);
    this.#open.add(target.node);
    try {
      return this.#resolveMembers(target.node, target.path);
    } finally {
      this.#open.delete(target.node);
    }
  }

  #resolveMembers(container: DictNode | ListNode, path: KeyPath): ConfigNode {
    if (container.kind === "list")
      return listNode(
        container.origin,
        container.items.map((item, index) => this.resolveDeep(item, [...path, index])),
      );
    const result = dict(container.origin);
    for (const [key, member] of container.entries)
      result.entries.set(key, this.resolveDeep(member, [...path, String(key)]));
    return result;
  }

  /** Follows `segments` from `start`; undefined if the path does not exist. `???` is returned unchanged. */
  select(start: Located, segments: readonly string[]): Located | undefined {
    const { reached, depth } = this.#descend(start, segments);
    return depth === segments.length ? reached : undefined;
  }

  /** Follows `segments` as far as they exist: `depth` of them lead to `reached`. */
  #descend(start: Located, segments: readonly string[]): { reached: Located; depth: number } {
    let reached = this.resolve(start.node, start.path);
    for (const [depth, segment] of segments.entries()) {
      const child = childOf(reached.node, segment);
      if (child === undefined) return { reached, depth };
      reached = this.resolve(child.node, [...reached.path, child.segment]);
    }
    return { reached, depth: segments.length };
  }

  /** The start of a relative key with `dots` leading dots in a value at `path`. */
  base(path: KeyPath, dots: number): Located | undefined {
    if (dots === 0) return { node: this.root, path: [] };
    if (dots > path.length) return undefined;
    const basePath = path.slice(0, path.length - dots);
    const node = rawNodeAt(this.root, basePath);
    return node && { node, path: basePath };
  }

  /** The value of a resolver's argument. */
  evaluateElement(element: Element, holder: Located): ConfigNode {
    const { origin } = holder.node;
    switch (element.kind) {
      case "value":
        return scalar(element.value, origin);
      case "text": {
        const value = this.#evaluateParts(element.parts, holder);
        if (element.quoted) return literalText(this.#textOf(value), origin);
        return this.resolveDeep(value.node, value.path);
      }
      case "list":
        return listNode(
          origin,
          element.items.map((item) => this.evaluateElement(item, holder)),
        );
      case "dict": {
        const result = dict(origin);
        for (const [key, value] of element.entries) {
          const plainKey = typeof key === "object" || typeof key === "bigint" ? Number(key) : key;
          setEntry(result.entries, plainKey, this.evaluateElement(value, holder));
        }
        return result;
      }
    }
  }

  fail({ node, path }: Located, problem: string): ConfigInterpolationError {
    const position = positionOf(node);
    return new ConfigInterpolationError(
      `Config value '${formatPath(path)}' cannot be resolved: ${problem}${place(position)}.`,
      { position },
    );
  }

  #evaluateParts(parts: TextParts, holder: Located): Located {
    const [only] = parts;
    if (parts.length === 1 && only !== undefined)
      return typeof only === "string" ? this.#literal(only, holder) : this.#evaluate(only, holder);
    let text = "";
    for (const part of parts) {
      text += typeof part === "string" ? part : this.#textOf(this.#evaluate(part, holder));
      if (text.length > MAX_TEXT)
        throw this.fail(holder, `interpolations expand to more than ${MAX_TEXT} characters`);
    }
    return this.#literal(text, holder);
  }

  #literal(text: string, { node, path }: Located): Located {
    return { node: literalText(text, node.origin), path };
  }

  #textOf({ node, path }: Located): string {
    return nodeText(this.resolveDeep(node, path));
  }

  #evaluate(interpolation: Interpolation, holder: Located): Located {
    return interpolation.kind === "reference"
      ? this.#follow(interpolation, holder)
      : this.#call(interpolation, holder);
  }

  #follow(reference: NodeReference, holder: Located): Located {
    const segments = reference.keys.flatMap((key) =>
      typeof key === "string" ? [key] : splitKey(this.#textOf(this.#evaluate(key, holder))),
    );
    const base = this.base(holder.path, reference.dots);
    const target = base && this.select(base, segments);
    if (target === undefined) throw this.#undefinedKey(holder, base, segments);
    if (isMissing(target.node))
      throw this.fail(
        holder,
        `it references '${formatPath([...(base?.path ?? []), ...segments])}', which is still ???`,
      );
    if (target.node.kind !== "scalar" && isPrefix(target.path, holder.path))
      throw this.fail(holder, "it references a value that contains it");
    return target;
  }

  #call(call: ResolverCall, holder: Located): Located {
    const name = call.name
      .map((part) => (typeof part === "string" ? part : this.#textOf(this.#evaluate(part, holder))))
      .join(".");
    return callResolver(this, name, call, holder);
  }

  #undefinedKey(holder: Located, base: Located | undefined, segments: readonly string[]) {
    const key = formatPath([...(base?.path ?? []), ...segments]);
    const position = positionOf(holder.node);
    return new ConfigInterpolationError(
      `Config value '${formatPath(holder.path)}' references '${key}', which is not defined${place(position)}.` +
        `${this.#hint(base, segments)}\n${remedyFor(key, this.root)}`,
      { position },
    );
  }

  /** Suggests the most similar name for the first missing segment. */
  #hint(base: Located | undefined, segments: readonly string[]): string {
    if (base === undefined) return "";
    const { reached, depth } = this.#descend(base, segments);
    if (reached.node.kind !== "dict") return "";
    const close = nearestKey(segments[depth] ?? "", [...reached.node.entries.keys()].map(String));
    const rest = segments.slice(depth + 1);
    return close === undefined ? "" : ` Did you mean '${formatPath([...reached.path, close, ...rest])}'?`;
  }
}

function isPrefix(prefix: KeyPath, path: KeyPath): boolean {
  return prefix.length <= path.length && prefix.every((segment, index) => segment === path[index]);
}

/** The keys of the model under test, with the flags that set them. */
const MODEL_KEYS = new Map([
  ["policy_base_url", "--model-url URL"],
  ["policy_api_key", "--model-api-key KEY"],
  ["policy_model_name", "--model NAME"],
]);

/** The remedy for a reference to a missing key. */
function remedyFor(key: string, root: DictNode): string {
  if (!MODEL_KEYS.has(key))
    return `Set it in a config file or env.yaml, or pass an override: ++${key}=<value>`;
  const missing = [...MODEL_KEYS.keys()].filter(
    (name) => !root.entries.has(name) && isReferenced(root, name),
  );
  const listed =
    missing.length > 1 ? `The model under test is not set: ${missing.join(", ")} are missing.\n` : "";
  const flags = missing.map((name) => MODEL_KEYS.get(name)).join(" ");
  const overrides = missing.map((name) => `++${name}=<value>`).join(" ");
  const keyless = missing.includes("policy_api_key")
    ? " An endpoint without a key, or one whose key is in `api_key_file`, takes ++policy_api_key=null."
    : "";
  return `${listed}Give it with ${flags}, in env.yaml, or as ${overrides}.${keyless}`;
}

/** The most similar name. A key of the model under test is usually not set at all, so it gets no suggestion. */
function nearestKey(key: string, names: readonly string[]): string | undefined {
  return MODEL_KEYS.has(key) ? undefined : suggest(key, names);
}

function isReferenced(root: DictNode, key: string): boolean {
  return [...scalarsIn(root)].some(({ node }) => interpolationText(node)?.includes(`\${${key}}`));
}
