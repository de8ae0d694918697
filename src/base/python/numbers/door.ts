/** Numbers as Python has them. */

export { pyRound } from "./exact.ts";
export { floatCompact, floatRepr } from "./float-text.ts";
export { asciiDigits, parsePyFloat, parsePyInt } from "./parse-number.ts";
export { isPyFloat, isPyInt, PyFloat } from "./py-float.ts";
export { PyRandom } from "./random.ts";
