/**
 * Python semantics for server folders: what a verifier needs to score as the Python servers do.
 *
 * @module
 */
export * from "./case.ts";
export * from "./case.ts";
export * from "./code-points.ts";
export * from "./difflib.ts";
export * from "./equals.ts";
export * from "./format/format-value.ts";
export * from "./json/json-dumps.ts";
export * from "./json/json-loads.ts";
export { isObject } from "./json/json-object.ts";
export * from "./numbers/double-bits.ts";
export * from "./numbers/float-text.ts";
export * from "./numbers/mersenne-twister.ts";
export * from "./numbers/parse-number.ts";
export * from "./numbers/py-float.ts";
export * from "./numbers/random.ts";
export * from "./numbers/round.ts";
export * from "./re.ts";
export * from "./repr.ts";
export * from "./truth.ts";
export * from "./whitespace.ts";
