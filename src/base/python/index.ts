/**
 * Python semantics for server folders, so that verifiers give the same scores as the Python servers.
 *
 * @module
 */
export * from "./case.ts";
export * from "./code-points.ts";
export * from "./difflib.ts";
export { formatValue } from "./format/format-value.ts";
export * from "./json/json-dumps.ts";
export * from "./json/json-loads.ts";
export { isObject } from "./json/json-object.ts";
export { bitLength, type DoubleParts, doubleParts, nearestDouble, pyRound } from "./numbers/exact.ts";
export * from "./numbers/float-text.ts";
export * from "./numbers/parse-number.ts";
export * from "./numbers/py-float.ts";
export * from "./numbers/random.ts";
export * from "./re.ts";
export * from "./repr.ts";
export * from "./truth.ts";
export * from "./whitespace.ts";
