/** The members of an object or array that other keywords have evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */

import { entriesOf, hasKey, isMapping, type Mapping, memberAt } from "nemo-gym/verify";
import type { KeywordCall } from "./keywords.ts";
import type { Located } from "./resolve.ts";

interface Scope extends Located {
  call: KeywordCall;
  schema: unknown;
}

function fits({ call, base }: Scope, instance: unknown, schema: unknown): boolean {
  return call.validation.ask(() => call.validation.check(instance, { schema, base }, call.at), true);
}

/** Other schemas that apply to the same instance: references, valid branches, the branch of a condition. */
function* applied(scope: Scope, schema: Mapping, instance: unknown): Generator<Located> {
  const { call, base } = scope;
  const { references, entered } = call.validation;
  const reference = memberAt(schema, "$ref");
  if (typeof reference === "string") yield references.find(reference, base);
  const dynamic = memberAt(schema, "$dynamicRef");
  if (typeof dynamic === "string") yield references.findDynamic(dynamic, base, entered);
  for (const keyword of ["allOf", "oneOf", "anyOf"]) {
    const branches = memberAt(schema, keyword);
    if (!Array.isArray(branches)) continue;
    for (const branch of branches) if (fits(scope, instance, branch)) yield { schema: branch, base };
  }
  const condition = memberAt(schema, "if");
  if (condition === undefined) return;
  const met = fits(scope, instance, condition);
  if (met) yield { schema: condition, base };
  const branch = memberAt(schema, met ? "then" : "else");
  if (branch !== undefined) yield { schema: branch, base };
}

export function evaluatedKeys(call: KeywordCall): Set<unknown> {
  const keys = new Set<unknown>();
  collectKeys({ call, schema: call.schema, base: call.base }, call.instance as Mapping, keys);
  return keys;
}

function collectKeys(scope: Scope, instance: Mapping, keys: Set<unknown>): void {
  const { schema, call } = scope;
  if (!isMapping(schema)) return;
  const properties = memberAt(schema, "properties");
  const patterns = memberAt(schema, "patternProperties");
  for (const [key, member] of entriesOf(instance)) {
    if (isMapping(properties) && hasKey(properties, key)) keys.add(key);
    if (
      isMapping(patterns) &&
      entriesOf(patterns).some(([pattern]) => call.validation.matchesKey(String(pattern), key))
    )
      keys.add(key);
    for (const keyword of ["additionalProperties", "unevaluatedProperties"]) {
      const rest = memberAt(schema, keyword);
      if (rest !== undefined && fits(scope, member, rest)) keys.add(key);
    }
  }
  const dependent = memberAt(schema, "dependentSchemas");
  if (isMapping(dependent)) {
    for (const [key, inner] of entriesOf(dependent)) {
      if (hasKey(instance, key)) collectKeys({ call, schema: inner, base: scope.base }, instance, keys);
    }
  }
  for (const located of applied(scope, schema, instance)) {
    call.validation.deeper(() => collectKeys({ call, ...located }, instance, keys));
  }
}

export function evaluatedItems(call: KeywordCall): Set<number> {
  const indexes = new Set<number>();
  collectItems({ call, schema: call.schema, base: call.base }, call.instance as readonly unknown[], indexes);
  return indexes;
}

function collectItems(scope: Scope, instance: readonly unknown[], indexes: Set<number>): void {
  const { schema, call } = scope;
  if (!isMapping(schema)) return;
  if (hasKey(schema, "items")) {
    for (const index of instance.keys()) indexes.add(index);
    return;
  }
  const prefix = memberAt(schema, "prefixItems");
  if (Array.isArray(prefix)) for (const index of prefix.keys()) indexes.add(index);
  for (const keyword of ["contains", "unevaluatedItems"]) {
    const rest = memberAt(schema, keyword);
    if (rest === undefined) continue;
    for (const [index, item] of instance.entries()) if (fits(scope, item, rest)) indexes.add(index);
  }
  for (const located of applied(scope, schema, instance))
    collectItems({ call, ...located }, instance, indexes);
}
