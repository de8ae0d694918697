import { entriesOf, isMapping, type Mapping, memberAt } from "nemo-gym/verify";
import { SchemaProblem } from "./schema-problem.ts";

/** A schema and the base address of its relative references. */
export interface Located {
  schema: unknown;
  base: string;
}

/** Keywords whose value is one schema, a list of schemas, or a map of schemas. */
const single = [
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
];
const listed = ["allOf", "anyOf", "oneOf", "prefixItems"];
const mapped = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/** Resolves `$ref` and `$dynamicRef` within one schema document. */
export class References {
  private readonly resources = new Map<string, unknown>();
  private readonly anchors = new Map<string, Located>();
  private readonly dynamicAnchors = new Map<string, Located>();

  constructor(root: unknown) {
    this.resources.set("", root);
    this.index(root, "");
  }

  private index(schema: unknown, outer: string): void {
    if (!isMapping(schema)) return;
    const base = baseOf(schema, outer);
    if (base !== outer) this.resources.set(base, schema);
    for (const [keyword, anchors] of [
      ["$anchor", this.anchors],
      ["$dynamicAnchor", this.dynamicAnchors],
    ] as const) {
      const name = memberAt(schema, keyword);
      if (typeof name === "string") anchors.set(`${base}#${name}`, { schema, base });
    }
    for (const keyword of single) this.index(memberAt(schema, keyword), base);
    for (const keyword of listed) {
      const value = memberAt(schema, keyword);
      if (Array.isArray(value)) for (const item of value) this.index(item, base);
    }
    for (const keyword of mapped) {
      const value = memberAt(schema, keyword);
      if (isMapping(value)) for (const [, member] of entriesOf(value)) this.index(member, base);
    }
  }

  /** The target of `reference`, found in a schema with this base. */
  find(reference: string, base: string): Located {
    const [address, fragment] = splitAddress(join(base, reference));
    const root = this.resources.get(address);
    if (root === undefined) throw new SchemaProblem(`Unresolvable: ${reference}`);
    if (fragment === "") return { schema: root, base: address };
    if (fragment.startsWith("/")) return { schema: pointTo(root, fragment, reference), base: address };
    const name = `${address}#${fragment}`;
    const anchored = this.anchors.get(name) ?? this.dynamicAnchors.get(name);
    if (anchored === undefined) throw new SchemaProblem(`Unresolvable: ${reference}`);
    return anchored;
  }

  /** Like `find`, but a dynamic anchor is replaced by the one with the same name in the outermost document entered so far. */
  findDynamic(reference: string, base: string, entered: readonly string[]): Located {
    const found = this.find(reference, base);
    const [, fragment] = splitAddress(join(base, reference));
    if (!this.dynamicAnchors.has(`${found.base}#${fragment}`)) return found;
    for (const address of entered) {
      const outer = this.dynamicAnchors.get(`${address}#${fragment}`);
      if (outer !== undefined) return outer;
    }
    return found;
  }
}

/** The base of a schema: its `$id` relative to the enclosing base. */
export function baseOf(schema: Mapping, outer: string): string {
  const id = memberAt(schema, "$id");
  return typeof id === "string" ? splitAddress(join(outer, id))[0] : outer;
}

function splitAddress(address: string): [string, string] {
  const hash = address.indexOf("#");
  if (hash < 0) return [address, ""];
  return [address.slice(0, hash), decode(address.slice(hash + 1))];
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/;

function join(base: string, reference: string): string {
  if (reference === "" || reference.startsWith("#")) return `${splitAddress(base)[0]}${reference}`;
  if (base === "" || scheme.test(reference)) return reference;
  if (scheme.test(base) && URL.canParse(reference, base)) return new URL(reference, base).href;
  return reference.startsWith("/") ? reference : base.slice(0, base.lastIndexOf("/") + 1) + reference;
}

function pointTo(root: unknown, pointer: string, reference: string): unknown {
  let target = root;
  for (const segment of pointer.slice(1).split("/")) {
    const key = segment.replaceAll("~1", "/").replaceAll("~0", "~");
    const next = Array.isArray(target) && /^\d+$/.test(key) ? target[Number(key)] : memberOf(target, key);
    if (next === undefined) throw new SchemaProblem(`PointerToNowhere: ${reference}`);
    target = next;
  }
  return target;
}

function memberOf(target: unknown, key: string): unknown {
  return isMapping(target) ? memberAt(target, key) : undefined;
}
