const GENERATED_ID = /^(\w+)_\*$/;

/** Removes null members of objects, at any depth. */
export function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === null ? [] : [[key, dropNulls(member)]])),
  );
}

/** The first position where two values differ, or undefined; `*` matches any number, `resp_*` a generated id. */
export function difference(expected: unknown, actual: unknown, path = "$"): string | undefined {
  if (typeof expected === "string") {
    if (expected === "*" && typeof actual === "number") return undefined;
    const prefix = GENERATED_ID.exec(expected)?.[1];
    if (prefix !== undefined && new RegExp(`^${prefix}_[0-9a-f]{32}$`).test(String(actual))) return undefined;
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) return mismatch(path, expected, actual);
    return firstOf(expected.map((member, index) => difference(member, actual[index], `${path}[${index}]`)));
  }
  if (isObject(expected) && isObject(actual)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    return firstOf(keys.map((key) => difference(expected[key], actual[key], `${path}.${key}`)));
  }
  return Object.is(expected, actual) || expected === actual ? undefined : mismatch(path, expected, actual);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const firstOf = (found: (string | undefined)[]) => found.find((entry) => entry !== undefined);

const mismatch = (path: string, expected: unknown, actual: unknown) =>
  `${path}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`;
