import { ConfigError, ConfigInterpolationError, InheritPathNotFoundError, place } from "./errors.ts";
import { Interpolator } from "./interpolation/interpolate.ts";
import { formatPath, type KeyPath } from "./key-path.ts";
import { mergeDicts } from "./merge.ts";
import {
  type ConfigNode,
  cloneNode,
  type DictKey,
  type DictNode,
  interpolationText,
  isMissing,
  MISSING,
  positionOf,
  scalar,
} from "./node.ts";

const INHERIT = "_inherit_from";
const COPY = "_copy";
const DELETE = "_delete_key";
const DIRECTIVE_TEXT = /^\$\{(inherit_from|copy):([^{}]*)\}$/;

/** The source of a block's values, for `--explain`. */
export interface Derivation {
  name: typeof INHERIT | typeof COPY;
  target: KeyPath;
  source: KeyPath;
}

interface Directive {
  name: typeof INHERIT | typeof COPY;
  sourcePath: string[];
}

/** Applies delete, inherit and copy to the merged config, in place. */
export function applyDirectives(root: DictNode, env: NodeJS.ProcessEnv): Derivation[] {
  const run = new DirectiveRun(root, env);
  run.walk(root, []);
  return run.derivations;
}

class DirectiveRun {
  readonly derivations: Derivation[] = [];
  readonly #live: DictNode;
  /** The config before any directive ran; sources are read from it. */
  readonly #snapshot: DictNode;
  readonly #env: NodeJS.ProcessEnv;
  readonly #snapshotInterpolator: Interpolator;

  constructor(root: DictNode, env: NodeJS.ProcessEnv) {
    this.#live = root;
    this.#snapshot = cloneNode(root);
    this.#env = env;
    this.#snapshotInterpolator = new Interpolator(this.#snapshot, env);
  }

  walk(node: DictNode, path: KeyPath): void {
    for (const [key, value] of [...node.entries]) {
      const here = [...path, String(key)];
      const undeleted = value.kind === "dict" ? deleteLocalKeys(value, here) : [];
      this.#walkInside(value, here);
      const directive = directiveOf(value, here);
      if (directive !== undefined) this.#apply(node, key, value, directive, here, undeleted);
    }
  }

  #walkInside(value: ConfigNode, path: KeyPath): void {
    if (value.kind === "dict") this.walk(value, path);
    if (value.kind === "list") {
      for (const [index, item] of value.items.entries())
        if (item.kind === "dict") this.walk(item, [...path, index]);
    }
  }

  #apply(
    parent: DictNode,
    key: DictKey,
    value: ConfigNode,
    directive: Directive,
    path: KeyPath,
    undeleted: readonly string[],
  ): void {
    const { name, sourcePath } = directive;
    const last = sourcePath.at(-1) ?? "";
    const container = this.#dictAt(this.#live, sourcePath.slice(0, -1));
    if (container === undefined) throw notFound(directive, value, path);
    if (container !== MISSING && name === INHERIT) container.entries.delete(last);
    const source = this.#sourceAt(sourcePath);
    if (source === undefined) throw notFound(directive, value, path);
    if (isMissing(source)) {
      parent.entries.set(key, scalar(MISSING, value.origin));
      return;
    }
    this.derivations.push({ name, target: path, source: sourcePath });
    const result = value.kind === "dict" ? this.#mergeOver(source, value, directive, path) : source;
    parent.entries.set(key, result);
    for (const gone of undeleted) deleteInherited(result, gone, path);
  }

  /** The source's values with the local ones on top. */
  #mergeOver(source: ConfigNode, local: DictNode, { name, sourcePath }: Directive, path: KeyPath): DictNode {
    const target = behind(this.#snapshotInterpolator, source, sourcePath);
    if (target.kind !== "dict")
      throw directiveError(
        `'${name}: ${sourcePath.join(".")}' at '${formatPath(path)}' needs a mapping as its source, not a ` +
          `${target.kind === "list" ? "list" : "single value"}`,
        local,
      );
    const result = cloneNode(target);
    mergeDicts(result, local, { root: this.#snapshot, path: sourcePath, env: this.#env });
    return result;
  }

  /** A copy of the value in the snapshot; `???` if the value or a mapping on its path is missing. */
  #sourceAt(path: readonly string[]): ConfigNode | undefined {
    const container = this.#dictAt(this.#snapshot, path.slice(0, -1));
    if (container === undefined) return undefined;
    if (container === MISSING) return scalar(MISSING, this.#snapshot.origin);
    const source = container.entries.get(path.at(-1) ?? "");
    return source && cloneNode(source);
  }

  #dictAt(root: DictNode, path: readonly string[]): DictNode | typeof MISSING | undefined {
    // Directives change the live config, so cached interpolations become invalid.
    const interpolator =
      root === this.#snapshot ? this.#snapshotInterpolator : new Interpolator(root, this.#env);
    let current: DictNode = root;
    for (const [index, segment] of path.entries()) {
      const child = current.entries.get(segment);
      if (child === undefined) return undefined;
      if (isMissing(child)) return MISSING;
      const target = behind(interpolator, child, path.slice(0, index + 1));
      if (target.kind !== "dict") return undefined;
      current = target;
    }
    return current;
  }
}

/** The target of an interpolation, or the node itself if it cannot be resolved. */
function behind(interpolator: Interpolator, node: ConfigNode, path: KeyPath): ConfigNode {
  if (interpolationText(node) === undefined) return node;
  try {
    return interpolator.resolve(node, path).node;
  } catch (error) {
    if (error instanceof ConfigInterpolationError) return node;
    throw error;
  }
}

/** The directive of a value. Removes it from the block. */
function directiveOf(value: ConfigNode, path: KeyPath): Directive | undefined {
  const text = interpolationText(value);
  if (text !== undefined) {
    const match = DIRECTIVE_TEXT.exec(text);
    if (match === null) return undefined;
    return { name: match[1] === "copy" ? COPY : INHERIT, sourcePath: (match[2] ?? "").split(".") };
  }
  if (value.kind !== "dict") return undefined;
  const [inherit, copy] = [value.entries.get(INHERIT), value.entries.get(COPY)];
  if (inherit !== undefined && copy !== undefined)
    throw directiveError(`'${formatPath(path)}' has both ${INHERIT} and ${COPY}; keep one of them`, value);
  const source = inherit ?? copy;
  if (source === undefined) return undefined;
  const name = inherit === undefined ? COPY : INHERIT;
  if (source.kind !== "scalar" || typeof source.value !== "string")
    throw directiveError(`'${name}' at '${formatPath(path)}' must be the path of a value, as text`, source);
  value.entries.delete(name);
  return { name, sourcePath: source.value.split(".") };
}

/** Removes the keys of `_delete_key` from this block. Returns the keys that do not exist. */
function deleteLocalKeys(value: DictNode, path: KeyPath): string[] {
  const names = value.entries.get(DELETE);
  if (names === undefined) return [];
  if (names.kind !== "scalar" || typeof names.value !== "string")
    throw directiveError(
      `'${DELETE}' at '${formatPath(path)}' must be a string of comma-separated names`,
      names,
    );
  value.entries.delete(DELETE);
  return names.value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => !value.entries.delete(name));
}

function deleteInherited(block: ConfigNode, name: string, path: KeyPath): void {
  if (block.kind !== "dict" || !block.entries.delete(name))
    throw directiveError(
      `'${DELETE}' at '${formatPath(path)}' names '${name}', which is neither in the block nor in its source`,
      block,
    );
}

function notFound({ name, sourcePath }: Directive, value: ConfigNode, path: KeyPath) {
  const position = positionOf(value);
  return new InheritPathNotFoundError(
    `The path '${sourcePath.join(".")}' that '${name}' names at '${formatPath(path)}' does not exist in config${place(position)}.`,
    { position },
  );
}

function directiveError(problem: string, node: ConfigNode): ConfigError {
  const position = positionOf(node);
  return new ConfigError(`${problem}${place(position)}.`, { code: "CONFIG_DIRECTIVE", position });
}
