import { type LoadsOptions, loads, PyFloat, parsePyFloat, pyEquals } from "nemo-gym/python";

const pythonDialect: LoadsOptions = { allowNonFinite: true };

/** A tool result for the verifier: the `solution`, or null if the call returned none. */
type Solution = { value: number | null; literal: boolean };

/** The values that must be found; undefined if the text is not JSON or cannot be iterated. */
export function parseGroundTruth(text: string): unknown[] | undefined {
  const value = tryLoads(text);
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  const isObject = typeof value === "object" && value !== null && !(value instanceof PyFloat);
  return isObject ? Object.keys(value) : undefined;
}

/** Whether every value of the ground truth is among the results; multiplicity does not matter. */
export function containsAll(outputs: readonly unknown[], groundTruth: readonly unknown[]): boolean {
  const solutions = outputs.map(solutionOf);
  const values = new Set(solutions.map(({ value }) => value));
  const nan = solutions.some(({ value, literal }) => literal && Number.isNaN(value));
  return groundTruth.every((wanted) => {
    if (wanted === null) return values.has(null);
    // Python finds NaN by identity in a list, although NaN is not equal to itself.
    if (Number.isNaN(wanted)) return nan;
    const number = wanted instanceof PyFloat ? wanted.value : wanted;
    if (typeof number === "number") return values.has(number);
    return solutions.some(({ value }) => value !== null && pyEquals(wanted, value));
  });
}

function solutionOf(output: unknown): Solution {
  const record = typeof output === "string" ? tryLoads(output) : undefined;
  const isObject = typeof record === "object" && record !== null && Object.hasOwn(record, "solution");
  const found = isObject ? (record as { solution: unknown }).solution : undefined;
  if (typeof found === "number") return { value: found + 0, literal: true };
  if (typeof found === "boolean") return { value: Number(found), literal: true };
  if (typeof found === "bigint") {
    const value = Number(found);
    return { value: Number.isFinite(value) ? value : null, literal: true };
  }
  if (found instanceof PyFloat) return { value: found.value, literal: true };
  return { value: typeof found === "string" ? (parsePyFloat(found) ?? null) : null, literal: false };
}

function tryLoads(text: string): unknown {
  try {
    return loads(text, pythonDialect);
  } catch {
    return undefined;
  }
}
