/** Text and values as Python has them. `json/` and `numbers/` have doors of their own. */

export { caseFold } from "./case.ts";
export { byCodePoint, codePointLength } from "./code-points.ts";
export { getCloseMatches } from "./difflib.ts";
export { formatTemplate, parseTemplate, type Template } from "./format/format.ts";
export { pyRepr, pyStr, pyTypeName, stringRepr } from "./repr.ts";
export { isTruthy, pyEquals } from "./truth.ts";
export { lstrip, rstrip, splitLines, splitWords, strip } from "./whitespace.ts";
