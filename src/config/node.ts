import { PyFloat } from "../base/python/numbers/door.ts";
import type { Position } from "./errors.ts";

/** The source of a value: a file, the command line, a default. Shared by all nodes of one source. */
export interface Source {
  kind: "file" | "env.yaml" | "initial" | "command line" | "default" | "environment";
  /** The name of the source in messages: a path, a command line word, a flag. */
  name: string;
}

/** The position of a node in its source. Line 0 means that the source has no lines. */
export interface Origin {
  source: Source;
  line: number;
  column: number;
}

/** Floats with integral values are PyFloats and integers beyond 2^53 bigints, so that the value can be written as it was read. */
export type ScalarValue = string | number | bigint | boolean | null | PyFloat;

/** Text, integer, float or boolean, as YAML allows. */
export type DictKey = string | number | boolean;

export interface ScalarNode {
  readonly kind: "scalar";
  readonly value: ScalarValue;
  readonly origin: Origin;
  /** The text is literal: `${` is not an interpolation, and `???` is not a missing value. */
  readonly literal?: true;
}

export interface DictNode {
  readonly kind: "dict";
  readonly entries: Map<DictKey, ConfigNode>;
  readonly origin: Origin;
}

export interface ListNode {
  readonly kind: "list";
  readonly items: ConfigNode[];
  readonly origin: Origin;
}

/** A value of the unresolved config. Scalars are immutable and shared, containers are not. */
export type ConfigNode = ScalarNode | DictNode | ListNode;

/** The text that marks a mandatory value. */
export const MISSING = "???";

/** The origin of default values. */
export const DEFAULT_ORIGIN: Origin = { source: { kind: "default", name: "default" }, line: 0, column: 0 };

/** Maximum depth of input data, so that later code may recurse. */
export const MAX_CONFIG_DEPTH = 200;

export function scalar(value: ScalarValue, origin: Origin): ScalarNode {
  return { kind: "scalar", value, origin };
}

/** A text that is taken literally. */
export function literalText(text: string, origin: Origin): ScalarNode {
  return { kind: "scalar", value: text, origin, literal: true };
}

export function dict(origin: Origin, entries: Iterable<[DictKey, ConfigNode]> = []): DictNode {
  return { kind: "dict", entries: new Map(entries), origin };
}

export function listNode(origin: Origin, items: ConfigNode[] = []): ListNode {
  return { kind: "list", items, origin };
}

export function isMissing(node: ConfigNode | undefined): boolean {
  return node?.kind === "scalar" && node.value === MISSING && node.literal !== true;
}

export function isNull(node: ConfigNode | undefined): boolean {
  return node?.kind === "scalar" && node.value === null;
}

/** The text of a text scalar, else undefined. */
export function textOfNode(node: ConfigNode | undefined): string | undefined {
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}

/** The text of a scalar that has to be resolved, else undefined. */
export function interpolationText(node: ConfigNode): string | undefined {
  if (node.kind !== "scalar" || typeof node.value !== "string" || node.literal) return undefined;
  return node.value.includes("${") ? node.value : undefined;
}

/** Sets an entry like a Python dict: `1`, `1.0` and `true` are the same key, and the first spelling stays. */
export function setEntry(entries: Map<DictKey, ConfigNode>, key: DictKey, node: ConfigNode): void {
  entries.set(equalKey(entries, key), node);
}

function equalKey(entries: Map<DictKey, ConfigNode>, key: DictKey): DictKey {
  if (typeof key === "boolean") return entries.has(Number(key)) ? Number(key) : key;
  if (typeof key === "number" && (key === 0 || key === 1) && entries.has(key === 1)) return key === 1;
  return key;
}

export function cloneNode<T extends ConfigNode>(node: T): T;
export function cloneNode(node: ConfigNode): ConfigNode {
  if (node.kind === "scalar") return node;
  if (node.kind === "list") return listNode(node.origin, node.items.map(cloneNode));
  const copy = dict(node.origin);
  for (const [key, value] of node.entries) copy.entries.set(key, cloneNode(value));
  return copy;
}

/** Python's truth of a node: null, false, 0, "", empty containers and `???` are false. */
export function isTruthyNode(node: ConfigNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.kind === "dict") return node.entries.size > 0;
  if (node.kind === "list") return node.items.length > 0;
  if (node.value instanceof PyFloat) return node.value.value !== 0;
  return Boolean(node.value) && node.value !== MISSING;
}

/** A JavaScript number of a numeric scalar, else undefined. */
export function numberOfNode(node: ConfigNode | undefined): number | undefined {
  if (node?.kind !== "scalar") return undefined;
  if (node.value instanceof PyFloat) return node.value.value;
  if (typeof node.value === "bigint") return Number(node.value);
  return typeof node.value === "number" ? node.value : undefined;
}

/** The position for an error message, if the node was read from a text. */
export function positionOf(node: ConfigNode | undefined): Position | undefined {
  if (node === undefined || node.origin.line === 0) return undefined;
  const { source, line, column } = node.origin;
  return { source: source.name, line, column };
}
