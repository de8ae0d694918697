/**
 * Python semantics for server folders, so that verifiers give the same scores as the Python servers.
 *
 * @module
 */
export { caseFold, isLower, isUpper } from "./case.ts";
export { byCodePoint, codePointLength } from "./code-points.ts";
export { SimilarityBudgetError, similarityRatio, unifiedDiff } from "./difflib.ts";
export { formatValue } from "./format/format-value.ts";
export { dumps } from "./json/json-dumps.ts";
export { JsonTextError, type LoadsOptions, loads, loadsPlain } from "./json/json-loads.ts";
export { isObject } from "./json/json-object.ts";
export { bitLength, doubleParts, nearestDouble, pyRound } from "./numbers/exact.ts";
export { floatRepr } from "./numbers/float-text.ts";
export { asciiDigits, parsePyFloat, parsePyInt, toPyFloat, toPyInt } from "./numbers/parse-number.ts";
export { isPyFloat, PyFloat } from "./numbers/py-float.ts";
export { MersenneTwister, PyRandom } from "./numbers/random.ts";
export {
  compilePyRegex,
  PyMatch,
  PyRegex,
  RegexBudget,
  RegexBudgetError,
  RegexSyntaxError,
} from "./re.ts";
export { pyRepr, pyStr, pyTypeName } from "./repr.ts";
export { isTruthy, pyEquals } from "./truth.ts";
export { isSpaceCode, lstrip, rstrip, SPACE_CLASS, splitLines, splitWords, strip } from "./whitespace.ts";
