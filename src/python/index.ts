/**
 * Python semantics for server folders: what a verifier needs to score as the Python servers do.
 *
 * @module
 */
export * from "./case.ts";
export * from "./case-fold.ts";
export * from "./code-points.ts";
export * from "./difflib.ts";
export * from "./equals.ts";
export * from "./exact-math.ts";
export * from "./float-text.ts";
export * from "./format-value.ts";
export * from "./json-dumps.ts";
export * from "./json-loads.ts";
export * from "./mersenne-twister.ts";
export * from "./parse-number.ts";
export * from "./py-float.ts";
export * from "./random.ts";
export * from "./re.ts";
export * from "./repr.ts";
export * from "./round.ts";
export * from "./truth.ts";
export * from "./whitespace.ts";
