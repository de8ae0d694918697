import { readFile } from "node:fs/promises";
import { errorMessage } from "../../src/errors.ts";
import { loads } from "../../src/python/json/json-loads.ts";
import { toPlainNumbers } from "../../src/python/numbers/py-float.ts";
import { type ConversionCase, directions } from "./conversion-directions.ts";
import { difference, dropNulls } from "./conversion-matching.ts";
import type { CaseResult, Suite } from "./suite.ts";

/** Golden cases of the conversions between the model dialects; the conventions are written in the file itself. */
export const suite: Suite = async (file) => {
  const { cases } = loads(await readFile(file, "utf8")) as { cases: ConversionCase[] };
  return Promise.all(cases.map(runCase));
};

async function runCase(golden: ConversionCase): Promise<CaseResult> {
  const { name: id, direction, compare } = golden;
  const expected = toPlainNumbers(golden.expected);
  const run = directions[direction];
  if (run === undefined) return { id, error: `unknown direction '${direction}'` };
  const mustFail = isFailure(expected);
  let actual: unknown;
  try {
    actual = toPlain(await run(golden.input));
  } catch (error) {
    return mustFail ? { id } : { id, error: `failed: ${errorMessage(error)}` };
  }
  if (mustFail) return { id, error: `expected a failure, got ${JSON.stringify(actual)}` };
  const found =
    compare === "drop_nulls"
      ? difference(dropNulls(expected), dropNulls(actual))
      : difference(expected, actual);
  return found === undefined ? { id } : { id, error: found };
}

const isFailure = (expected: unknown): boolean =>
  typeof expected === "object" &&
  expected !== null &&
  "error" in expected &&
  Object.keys(expected).length === 1 &&
  typeof expected.error === "string";

/** The value as a client would read it: without undefined members. */
const toPlain = (value: unknown): unknown =>
  value === undefined ? null : JSON.parse(JSON.stringify(toPlainNumbers(value)));
