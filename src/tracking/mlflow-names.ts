import { isObject } from "../python/json/json-object.ts";

const MAX_NAME = 250;
const GAP = "___";

/** A name that MLflow accepts for a metric, parameter or tag; undefined when nothing is left of it. */
export function mlflowName(name: string): string | undefined {
  const allowed = name.replaceAll("@", "_at_").replace(/[^\p{L}\p{N}_/.\-: ]/gu, "_");
  const segments = allowed
    .split("/")
    .filter((segment) => segment !== "")
    .map((segment) => (/^\.+$/.test(segment) ? "_".repeat(segment.length) : segment));
  const joined = segments.join("/").replace(/^\.+/, (dots) => "_".repeat(dots.length));
  if (joined === "") return undefined;
  if (joined.length <= MAX_NAME) return joined;
  const kept = MAX_NAME - GAP.length;
  const tail = Math.floor(kept / 2);
  return `${joined.slice(0, kept - tail)}${GAP}${joined.slice(joined.length - tail)}`;
}

/** The leaves of a config by their paths: `a.b[0].c`. */
export function* flattened(value: unknown, path = ""): Generator<[path: string, leaf: unknown]> {
  if (Array.isArray(value) && value.length > 0) {
    for (const [index, item] of value.entries()) yield* flattened(item, `${path}[${index}]`);
  } else if (isObject(value) && Object.keys(value).length > 0) {
    for (const [key, member] of Object.entries(value))
      yield* flattened(member, path === "" ? key : `${path}.${key}`);
  } else if (path !== "") yield [path, value];
}
