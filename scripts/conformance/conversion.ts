import { readFile } from "node:fs/promises";
import { errorMessage } from "../../src/base/errors.ts";
import { loads } from "../../src/base/python/json/json-loads.ts";
import { isObject } from "../../src/base/python/json/json-object.ts";
import { toPlainNumbers } from "../../src/base/python/numbers/py-float.ts";
import { type ConversionCase, directions } from "./conversion-directions.ts";
import { difference } from "./difference.ts";
import type { Suite } from "./suite.ts";

/** Golden cases of the conversions between the model dialects; the conventions are written in the file itself. */
export const suite: Suite = async (file) => {
  const { cases } = loads(await readFile(file, "utf8")) as { cases: ConversionCase[] };
  return cases.map((golden) => ({ id: golden.name, run: () => runCase(golden) }));
};

async function runCase(golden: ConversionCase): Promise<string | undefined> {
  const expected = toPlainNumbers(golden.expected);
  const run = directions[golden.direction];
  if (run === undefined) return `unknown direction '${golden.direction}'`;
  const mustFail = isFailure(expected);
  let actual: unknown;
  try {
    actual = toPlain(await run(golden.input));
  } catch (error) {
    return mustFail ? undefined : `failed: ${errorMessage(error)}`;
  }
  if (mustFail) return `expected a failure, got ${JSON.stringify(actual)}`;
  const compared = golden.compare === "drop_nulls" ? dropNulls : (value: unknown) => value;
  return difference(compared(actual), compared(expected), "$", { matches });
}

const GENERATED_ID = /^(\w+)_\*$/;

/** In expected values `*` stands for any number, `resp_*` for a generated id. */
function matches(actual: unknown, expected: unknown): boolean {
  if (expected === "*") return typeof actual === "number";
  const prefix = typeof expected === "string" ? GENERATED_ID.exec(expected)?.[1] : undefined;
  return prefix !== undefined && new RegExp(`^${prefix}_[0-9a-f]{32}$`).test(String(actual));
}

/** Removes null members of objects, at any depth. */
function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([key, member]) => [key, dropNulls(member)]));
}

const isFailure = (expected: unknown): boolean =>
  isObject(expected) && Object.keys(expected).length === 1 && typeof expected["error"] === "string";

/** The value as a client would read it: without undefined members. */
const toPlain = (value: unknown): unknown =>
  value === undefined ? null : JSON.parse(JSON.stringify(toPlainNumbers(value)));
