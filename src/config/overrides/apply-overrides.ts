import { pyStr } from "../../base/python/door.ts";
import { maskSecrets, maskWord } from "../../base/secrets.ts";
import { OverrideError } from "../errors.ts";
import { childOf, findKey, rawNodeAt } from "../key-path.ts";
import { mergeNodes } from "../merge.ts";
import {
  type ConfigNode,
  type DictNode,
  dict,
  isNull,
  MAX_CONFIG_DEPTH,
  type Origin,
  type Source,
  setEntry,
} from "../node.ts";
import { nodeFromPlain, plainFromNode } from "../plain-data.ts";
import { type OverrideOperation, type ParsedOverride, parseOverride } from "./override-grammar.ts";

/** A Hydra override as typed (`+a.b=1`), or the literal value of a flag. */
export type Override = string | LiteralOverride;

export interface LiteralOverride {
  op: OverrideOperation;
  /** Dotted key. */
  path: string;
  value: unknown;
  /** The flag, such as `--model`, for messages and `--explain`. */
  source: string;
}

const COMMAND_LINE: Source = { kind: "command line", name: "command line" };

/** Applies the overrides of a command line in order to an empty mapping. Files are merged below the result later. */
export function applyOverrides(overrides: readonly Override[], env: NodeJS.ProcessEnv): DictNode {
  const root = dict({ source: COMMAND_LINE, line: 0, column: 0 });
  for (const override of overrides) {
    const parsed = typeof override === "string" ? parseOverride(override) : literal(override);
    // Keys of Hydra itself configure features that do not exist here.
    if (/^hydra(?:[./]|$)/.test(parsed.key)) continue;
    applyOverride(root, parsed, env);
  }
  return root;
}

function literal({ op, path, value, source }: LiteralOverride): ParsedOverride {
  const origin: Origin = { source: { kind: "command line", name: source }, line: 0, column: 0 };
  const deletes = op === "~" && value === undefined;
  return {
    operation: op,
    key: path,
    value: deletes ? undefined : nodeFromPlain(value, origin, true),
    text: deletes ? `~${path}` : maskWord(`${op}${path}=${pyStr(value)}`),
  };
}

function applyOverride(root: DictNode, override: ParsedOverride, env: NodeJS.ProcessEnv): void {
  const segments = override.key.includes("/") ? [override.key] : override.key.split(".");
  if (segments.length > MAX_CONFIG_DEPTH)
    throw overrideError(`The key of an override has more than ${MAX_CONFIG_DEPTH} segments.`);
  const existing = rawNodeAt(root, segments);
  if (override.operation === "~") {
    deleteKey(root, segments, existing, override);
    return;
  }
  const { value } = override;
  if (value === undefined) return;
  // upstream (Hydra): a null counts as absent, and a list or mapping may be added again
  const occupied = existing !== undefined && !isNull(existing);
  if (override.operation === "+" && occupied && value.kind === "scalar") throw alreadyThere(override);
  if (override.operation === "" && (existing === undefined || addsKeys(existing, value)))
    throw overrideError(
      `Could not override '${override.key}': no earlier override set it. To add it to the config use +${override.text}`,
    );
  setValue(root, segments, value, override, env);
}

function setValue(
  root: DictNode,
  segments: readonly string[],
  value: ConfigNode,
  override: ParsedOverride,
  env: NodeJS.ProcessEnv,
): void {
  let container: ConfigNode = root;
  for (const segment of segments.slice(0, -1)) {
    let child: ConfigNode | undefined = childOf(container, segment)?.node;
    if (child === undefined || child.kind === "scalar") {
      child = dict(value.origin);
      put(container, segment, child, override);
    }
    container = child;
  }
  const last = segments.at(-1) ?? "";
  const existing = childOf(container, last)?.node;
  if (existing !== undefined && existing.kind !== "scalar" && value.kind !== "scalar") {
    put(container, last, mergeNodes(existing, value, { root, path: segments, env }), override);
  } else put(container, last, value, override);
}

function put(container: ConfigNode, segment: string, value: ConfigNode, override: ParsedOverride): void {
  if (container.kind === "dict") {
    setEntry(container.entries, findKey(container, segment) ?? segment, value);
    return;
  }
  const index = Number(segment);
  if (container.kind !== "list" || !Number.isInteger(index) || index >= container.items.length) {
    const size = container.kind === "list" ? container.items.length : 0;
    throw overrideError(
      `Could not apply '${override.text}': '${segment}' is not an index into a list of ${size}.`,
    );
  }
  container.items[index] = value;
}

/** Whether `value` has keys that no earlier override added to `existing`. */
function addsKeys(existing: ConfigNode, value: ConfigNode): boolean {
  if (existing.kind !== "dict" || value.kind !== "dict") return false;
  return [...value.entries].some(([key, member]) => {
    const current = existing.entries.get(key);
    return current === undefined || addsKeys(current, member);
  });
}

function deleteKey(
  root: DictNode,
  segments: readonly string[],
  existing: ConfigNode | undefined,
  { key, value }: ParsedOverride,
): void {
  if (existing === undefined || isNull(existing))
    throw overrideError(
      `Could not delete from config. '${key}' does not exist. Only keys set by an earlier override can be deleted.`,
    );
  if (value !== undefined && !isNull(value)) {
    const actual = plainFromNode(existing);
    const given = plainFromNode(value);
    if (JSON.stringify(actual) !== JSON.stringify(given))
      throw overrideError(
        `Could not delete from config. The value of '${key}' is ${shown(key, actual)} and not ${shown(key, given)}.`,
      );
  }
  const parent = rawNodeAt(root, segments.slice(0, -1));
  const last = segments.at(-1) ?? "";
  if (parent?.kind === "dict") parent.entries.delete(findKey(parent, last) ?? last);
  if (parent?.kind === "list") parent.items.splice(Number(last), 1);
}

function shown(key: string, value: unknown): string {
  const name = key.slice(key.lastIndexOf(".") + 1);
  return pyStr(maskSecrets({ [name]: value })[name]);
}

function alreadyThere({ key, text }: ParsedOverride): OverrideError {
  const bare = text.slice(1);
  return overrideError(
    `Could not append to config. An item is already at '${key}'.\n` +
      `Either remove the + to change it: '${bare}'\nOr add a second + to add or replace '${key}': '+${text}'`,
  );
}

/** An error about a whole override. */
function overrideError(message: string): OverrideError {
  return new OverrideError(message, { position: { source: "command line", line: 1, column: 1 } });
}
