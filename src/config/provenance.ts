import path from "node:path";
import type { Derivation } from "./directives.ts";
import { parseText, type TextParts } from "./interpolation/interpolation-grammar.ts";
import { formatPath, type KeyPath, rawNodeAt } from "./key-path.ts";
import { type ConfigNode, type DictNode, interpolationText, isMissing, type Origin } from "./node.ts";

/** A source that sets a key. */
interface ValueSource {
  where: string;
  node: ConfigNode;
  won: boolean;
}

/** The data for finding the source of a value later. */
export interface Provenance {
  /** The sources in order of precedence, lowest first. */
  layers: readonly DictNode[];
  derivations: readonly Derivation[];
  /** File names are shown relative to this directory. */
  cwd: string;
}

/** Every source that sets `target`, lowest precedence first. `final` is the value in the merged config. */
export function sourcesOf(
  target: KeyPath,
  final: ConfigNode | undefined,
  provenance: Provenance,
): ValueSource[] {
  const found = nodesAt(target, provenance, new Set());
  const winner = found.findLast((node) => node.origin === final?.origin) ?? winnerByPrecedence(found, final);
  const sources = found.map((node) => ({
    where: describeOrigin(node.origin, provenance.cwd),
    node,
    won: node === winner,
  }));
  if (winner === undefined && final !== undefined)
    sources.push({ where: describeOrigin(final.origin, provenance.cwd), node: final, won: true });
  return sources;
}

/** The keys that a value refers to directly, without computed keys. */
export function referencedKeys(node: ConfigNode | undefined, holder: KeyPath): string[] {
  const text = node && interpolationText(node);
  if (text === undefined) return [];
  return referencesIn(parseText(text)).flatMap(({ dots, keys }) => {
    if (keys.some((key) => typeof key !== "string")) return [];
    const base = dots === 0 ? [] : holder.slice(0, holder.length - dots);
    return [formatPath([...base, ...(keys as string[])])];
  });
}

function referencesIn(parts: TextParts) {
  return parts.flatMap((part) => (typeof part !== "string" && part.kind === "reference" ? [part] : []));
}

/** The values written at a path, after those of the block that it inherits or copies. */
function nodesAt(target: KeyPath, provenance: Provenance, seen: Set<string>): ConfigNode[] {
  const id = formatPath(target);
  if (seen.has(id)) return [];
  seen.add(id);
  const inherited = provenance.derivations
    .filter(({ target: block }) => block.every((segment, index) => segment === target[index]))
    .flatMap(({ target: block, source }) =>
      nodesAt([...source, ...target.slice(block.length)], provenance, seen),
    );
  const own = provenance.layers.flatMap((layer) => rawNodeAt(layer, target) ?? []);
  return [...inherited, ...own];
}

/** A merged mapping or a computed value has no single origin, so the source with the highest precedence wins. */
function winnerByPrecedence(
  found: readonly ConfigNode[],
  final: ConfigNode | undefined,
): ConfigNode | undefined {
  if (final === undefined || final.origin.source.kind === "default") return undefined;
  return found.findLast((node) => !isMissing(node));
}

function describeOrigin({ source, line, column }: Origin, cwd: string): string {
  switch (source.kind) {
    case "file":
    case "env.yaml":
      return `${displayPath(source.name, cwd)}:${line}:${column}`;
    case "command line":
      return `command line: ${source.name}`;
    default:
      return source.name;
  }
}

function displayPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith("..") || path.isAbsolute(relative) ? file : relative;
}
