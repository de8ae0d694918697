import type { ConfigNode, DictKey, DictNode, ScalarNode } from "./node.ts";

/** The path of a value: texts are mapping keys, numbers are list indexes. */
export type KeyPath = readonly (string | number)[];

/** The path as text, `a.b[0].c`, for messages and `--explain`. */
export function formatPath(path: KeyPath): string {
  let text = "";
  for (const segment of path) {
    if (typeof segment === "number") text += `[${segment}]`;
    else text += text === "" ? segment : `.${segment}`;
  }
  return text;
}

/** Splits `a.b`, `a[0]`, `a[k].c` into segments. All are texts, because only the container shows whether one is an index. */
export function splitKey(text: string): string[] {
  const head = /^[^.[]*/.exec(text)?.[0] ?? "";
  const segments = head === "" && text.startsWith("[") ? [] : [head];
  for (const match of text.slice(head.length).matchAll(/\.([^.[]*)|\[(.*?)\]/g))
    segments.push(match[1] ?? match[2] ?? "");
  return segments;
}

/** The child at `segment`, and its segment in a path; undefined if it does not exist. */
export function childOf(
  container: ConfigNode,
  segment: string | number,
): { node: ConfigNode; segment: string | number } | undefined {
  if (container.kind === "scalar") return undefined;
  if (container.kind === "list") {
    const index = typeof segment === "number" ? segment : /^\d+$/.test(segment) ? Number(segment) : -1;
    const node = container.items[index];
    return node === undefined ? undefined : { node, segment: index };
  }
  const key = findKey(container, String(segment));
  const node = key === undefined ? undefined : container.entries.get(key);
  return node === undefined ? undefined : { node, segment: String(key) };
}

/** The mapping key with this text: the text itself, or a number or boolean that is written like it. */
export function findKey(container: DictNode, text: string): DictKey | undefined {
  if (container.entries.has(text)) return text;
  for (const key of container.entries.keys()) if (typeof key !== "string" && String(key) === text) return key;
  return undefined;
}

/** The raw node at `path`, without following interpolations. */
export function rawNodeAt(root: ConfigNode, path: KeyPath): ConfigNode | undefined {
  let node: ConfigNode | undefined = root;
  for (const segment of path) node = node && childOf(node, segment)?.node;
  return node;
}

/** Every scalar in `node` with its path, in config order. */
export function* scalarsIn(
  node: ConfigNode,
  path: KeyPath = [],
): Generator<{ node: ScalarNode; path: KeyPath }> {
  if (node.kind === "scalar") yield { node, path };
  if (node.kind === "list")
    for (const [index, item] of node.items.entries()) yield* scalarsIn(item, [...path, index]);
  if (node.kind === "dict")
    for (const [key, member] of node.entries) yield* scalarsIn(member, [...path, String(key)]);
}
