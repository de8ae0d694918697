import { codePointLength } from "nemo-gym/python";
import { entriesOf, hasKey, isMapping, type Mapping, memberAt, sizeOf } from "nemo-gym/verify";
import { followDiscriminator } from "./discriminator.ts";
import { evaluatedItems, evaluatedKeys } from "./evaluated.ts";
import { SchemaProblem } from "./schema-problem.ts";
import type { Validation } from "./validate.ts";
import { equalValues, identityOf, isMultiple, isOfType, numeric } from "./values.ts";

/** The input of a keyword check. */
export interface KeywordCall {
  validation: Validation;
  /** The keyword's own value. */
  value: unknown;
  instance: unknown;
  /** The schema that contains the keyword. */
  schema: Mapping;
  base: string;
  /** Position in the instance, for messages. */
  at: string;
}

type Keyword = (call: KeywordCall) => boolean;

/** A keyword for objects; other values satisfy it. */
function onObjects(keyword: (call: KeywordCall & { instance: Mapping }) => boolean): Keyword {
  return (call) => !isMapping(call.instance) || keyword({ ...call, instance: call.instance });
}

function onArrays(keyword: (call: KeywordCall & { instance: readonly unknown[] }) => boolean): Keyword {
  return (call) => !Array.isArray(call.instance) || keyword({ ...call, instance: call.instance });
}

function onStrings(keyword: (text: string, value: unknown, validation: Validation) => boolean): Keyword {
  return ({ instance, value, validation }) =>
    typeof instance !== "string" || keyword(instance, value, validation);
}

/** A bound on a number. A comparison with NaN is false, so NaN never violates a bound. */
function unless(broken: (left: number | bigint, right: number | bigint) => boolean): Keyword {
  return ({ instance, value }) => {
    const number = numeric(instance);
    const bound = numeric(value);
    return number === undefined || bound === undefined || !broken(number, bound);
  };
}

function limit(
  size: (instance: unknown) => number | undefined,
  broken: (size: number, bound: number) => boolean,
): Keyword {
  return ({ instance, value }) => {
    const actual = size(instance);
    return actual === undefined || !broken(actual, Number(numeric(value)));
  };
}

const lengthOf = (instance: unknown) =>
  typeof instance === "string" ? codePointLength(instance) : undefined;
const itemsOf = (instance: unknown) => (Array.isArray(instance) ? instance.length : undefined);
const membersOf = (instance: unknown) => (isMapping(instance) ? sizeOf(instance) : undefined);
const below = (size: number, bound: number) => size < bound;
const above = (size: number, bound: number) => size > bound;

/** Whether every part satisfies the keyword. */
function every<Part>(call: KeywordCall, parts: Iterable<Part>, keeps: (part: Part) => boolean): boolean {
  let valid = true;
  for (const part of parts) {
    if (keeps(part)) continue;
    valid = false;
    if (call.validation.lazy) break;
  }
  return valid;
}

function check(call: KeywordCall, instance: unknown, schema: unknown, key?: unknown): boolean {
  return call.validation.check(
    instance,
    { schema, base: call.base },
    key === undefined ? call.at : `${call.at}/${String(key)}`,
  );
}

function fits(call: KeywordCall, instance: unknown, schema: unknown): boolean {
  return call.validation.ask(() => check(call, instance, schema), true);
}

const type: Keyword = ({ instance, value }) =>
  (Array.isArray(value) ? value : [value]).some((name) => isOfType(instance, name));

const uniqueItems: Keyword = ({ instance, value }) =>
  value !== true || !Array.isArray(instance) || new Set(instance.map(identityOf)).size === instance.length;

const multipleOf: Keyword = ({ instance, value }) => {
  if (numeric(instance) === undefined) return true;
  const multiple = isMultiple(instance, value);
  if (multiple === undefined) throw new SchemaProblem("ArithmeticError: multipleOf cannot be computed");
  return multiple;
};

const items = onArrays((call) => {
  const prefix = memberAt(call.schema, "prefixItems");
  const start = Array.isArray(prefix) ? prefix.length : 0;
  return every(call, call.instance.slice(start).entries(), ([index, item]) =>
    check(call, item, call.value, start + index),
  );
});

const prefixItems = onArrays((call) => {
  const schemas = call.value as readonly unknown[];
  return every(call, call.instance.slice(0, schemas.length).entries(), ([index, item]) =>
    check(call, item, schemas[index], index),
  );
});

const contains = onArrays((call) => {
  const least = Number(numeric(memberAt(call.schema, "minContains")) ?? 1);
  const most = Number(numeric(memberAt(call.schema, "maxContains")) ?? call.instance.length);
  let matches = 0;
  for (const item of call.instance) if (fits(call, item, call.value) && ++matches > most) return false;
  return matches >= least;
});

const properties = onObjects((call) =>
  every(
    call,
    entriesOf(call.value as Mapping),
    ([key, schema]) => !hasKey(call.instance, key) || check(call, memberAt(call.instance, key), schema, key),
  ),
);

const patternProperties = onObjects((call) =>
  every(call, entriesOf(call.value as Mapping), ([pattern, schema]) =>
    every(
      call,
      entriesOf(call.instance),
      ([key, member]) =>
        !call.validation.matchesKey(String(pattern), key) || check(call, member, schema, key),
    ),
  ),
);

const additionalProperties = onObjects((call) => {
  const declared = memberAt(call.schema, "properties");
  const patterns = memberAt(call.schema, "patternProperties");
  const joined = isMapping(patterns)
    ? entriesOf(patterns)
        .map(([pattern]) => pattern)
        .join("|")
    : "";
  const extras = entriesOf(call.instance).filter(
    ([key]) =>
      !(isMapping(declared) && hasKey(declared, key)) &&
      !(joined !== "" && call.validation.matchesKey(joined, key)),
  );
  return every(call, extras, ([key, member]) => check(call, member, call.value, key));
});

const anyOf: Keyword = (call) =>
  followDiscriminator(call) ?? (call.value as readonly unknown[]).some((schema) => attempt(call, schema));

const oneOf: Keyword = (call) => {
  const followed = followDiscriminator(call);
  if (followed !== undefined) return followed;
  const schemas = call.value as readonly unknown[];
  const first = schemas.findIndex((schema) => attempt(call, schema));
  return first >= 0 && !schemas.slice(first + 1).some((schema) => fits(call, call.instance, schema));
};

/** A branch that is allowed to fail, but is evaluated completely. */
function attempt(call: KeywordCall, schema: unknown): boolean {
  return call.validation.ask(() => check(call, call.instance, schema), false);
}

const conditional: Keyword = (call) => {
  const branch = fits(call, call.instance, call.value) ? "then" : "else";
  return !hasKey(call.schema, branch) || check(call, call.instance, memberAt(call.schema, branch));
};

const dependentRequired = onObjects((call) =>
  every(
    call,
    entriesOf(call.value as Mapping),
    ([key, names]) =>
      !hasKey(call.instance, key) ||
      (names as readonly string[]).every((name) => hasKey(call.instance, name)),
  ),
);

const unevaluatedItems = onArrays((call) => {
  const evaluated = evaluatedItems(call);
  return call.instance.every((_, index) => evaluated.has(index));
});

const unevaluatedProperties = onObjects((call) => {
  const evaluated = evaluatedKeys(call);
  return every(
    call,
    entriesOf(call.instance),
    ([key, member]) => evaluated.has(key) || check(call, member, call.value, key),
  );
});

/** The keywords that constrain an instance. */
export const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  [
    "$ref",
    (call) =>
      call.validation.check(
        call.instance,
        call.validation.references.find(String(call.value), call.base),
        call.at,
      ),
  ],
  [
    "$dynamicRef",
    (call) => {
      const { references, entered } = call.validation;
      return call.validation.check(
        call.instance,
        references.findDynamic(String(call.value), call.base, entered),
        call.at,
      );
    },
  ],
  ["type", type],
  [
    "enum",
    ({ instance, value }) => (value as readonly unknown[]).some((item) => equalValues(item, instance)),
  ],
  ["const", ({ instance, value }) => equalValues(value, instance)],
  ["multipleOf", multipleOf],
  ["minimum", unless((number, bound) => number < bound)],
  ["maximum", unless((number, bound) => number > bound)],
  ["exclusiveMinimum", unless((number, bound) => number <= bound)],
  ["exclusiveMaximum", unless((number, bound) => number >= bound)],
  ["minLength", limit(lengthOf, below)],
  ["maxLength", limit(lengthOf, above)],
  ["minItems", limit(itemsOf, below)],
  ["maxItems", limit(itemsOf, above)],
  ["minProperties", limit(membersOf, below)],
  ["maxProperties", limit(membersOf, above)],
  ["pattern", onStrings((text, pattern, validation) => validation.matches(String(pattern), text))],
  ["uniqueItems", uniqueItems],
  ["items", items],
  ["prefixItems", prefixItems],
  ["contains", contains],
  ["properties", properties],
  ["patternProperties", patternProperties],
  ["additionalProperties", additionalProperties],
  [
    "propertyNames",
    onObjects((call) => every(call, entriesOf(call.instance), ([key]) => check(call, key, call.value))),
  ],
  [
    "required",
    onObjects(({ instance, value }) => (value as readonly string[]).every((name) => hasKey(instance, name))),
  ],
  ["dependentRequired", dependentRequired],
  [
    "dependentSchemas",
    onObjects((call) =>
      every(
        call,
        entriesOf(call.value as Mapping),
        ([key, schema]) => !hasKey(call.instance, key) || check(call, call.instance, schema),
      ),
    ),
  ],
  [
    "allOf",
    (call) =>
      followDiscriminator(call) ??
      every(call, call.value as readonly unknown[], (schema) => check(call, call.instance, schema)),
  ],
  ["anyOf", anyOf],
  ["oneOf", oneOf],
  ["not", (call) => !fits(call, call.instance, call.value)],
  ["if", conditional],
  ["unevaluatedItems", unevaluatedItems],
  ["unevaluatedProperties", unevaluatedProperties],
]);
