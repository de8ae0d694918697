import { errorMessage } from "../errors.ts";
import { loads, loadsPlain } from "../python/json/json-loads.ts";
import { isObject, type JsonObject } from "../python/json/json-object.ts";
import type { Tool } from "../wire/schemas/item-types.ts";
import type { Trail } from "../wire/schemas/readers.ts";
import { readCreateParams } from "../wire/schemas/responses.ts";
import { type Line, unreadableReason } from "./lines.ts";

/** One thing wrong with a row. */
export interface RowProblem {
  /** Where in the row, like `responses_create_params.tools[0].strict`; empty for the row as a whole. */
  path: string;
  message: string;
}

export type RowVerdict =
  | { valid: true; row: JsonObject; params: JsonObject }
  /** Without a row the line is not a JSON object at all. */
  | { valid: false; row: JsonObject | undefined; problems: RowProblem[] };

const MAX_PROBLEMS = 10;

/** Reads one line and judges it: an object whose `responses_create_params` are valid parameters of the Responses API. */
export function validateLine(line: Line): RowVerdict {
  if (line === null) return broken("the line is not UTF-8 text");
  let row: unknown;
  try {
    row = readRow(line);
  } catch (error) {
    return broken(unreadableReason(line) ?? `not JSON: ${errorMessage(error)}`);
  }
  if (!isObject(row)) return broken("the row is not a JSON object");
  const verdict = validateRow(row);
  return verdict.valid || !LONG_INTEGER.test(line) ? verdict : validateRow(readExactly(line));
}

/** Integers of this size lose digits as plain numbers, so the row is read again exactly. */
const LONG_INTEGER = /\d{19}/;
/** Names that JavaScript would move to the front of an object. */
const INDEX_NAME = /^\d+$/;
/** The integer -0 is 0, while the float -0.0 keeps its sign. */
const NEGATIVE_ZERO = /[\s:,[]-0(?![.\deE])/;

/** Judges a row that is already read. */
export function validateRow(row: JsonObject): RowVerdict {
  if (row["responses_create_params"] === undefined) {
    return { valid: false, row, problems: [{ path: "responses_create_params", message: "Field required" }] };
  }
  const trail: Trail = { loc: ["responses_create_params"], detail: [] };
  const params = readCreateParams(row["responses_create_params"], trail);
  refuseToolsWithoutStrict(params?.tools, trail);
  if (trail.detail.length === 0) return { valid: true, row, params: params as unknown as JsonObject };
  const problems = trail.detail
    .slice(0, MAX_PROBLEMS)
    .map(({ loc, msg }) => ({ path: jsonPath(loc), message: msg }));
  return { valid: false, row, problems };
}

/** Servers take such tools, but datasets are shared with the Python original, which refuses the row. */
function refuseToolsWithoutStrict(tools: readonly Tool[] | null | undefined, trail: Trail): void {
  for (const [index, tool] of (tools ?? []).entries()) {
    if (tool?.type !== "function" || tool.strict !== undefined) continue;
    const loc = [...trail.loc, "tools", index, "strict"];
    trail.detail.push({ type: "missing", loc, msg: "Field required", input: tool });
  }
}

/** Plain values are enough for statistics but for a few texts that JavaScript would read differently. */
function readRow(line: string): unknown {
  if (NEGATIVE_ZERO.test(line)) return readExactly(line);
  const row = loadsPlain(line, { allowNonFinite: true });
  const first = isObject(row) ? Object.keys(row)[0] : undefined;
  return first !== undefined && INDEX_NAME.test(first) ? readExactly(line) : row;
}

function readExactly(line: string): JsonObject {
  return loads(line, { allowNonFinite: true }) as JsonObject;
}

function broken(message: string): RowVerdict {
  return { valid: false, row: undefined, problems: [{ path: "", message }] };
}

function jsonPath(location: readonly (string | number)[]): string {
  let path = "";
  for (const step of location) {
    if (typeof step === "number") path += `[${step}]`;
    else if (/^[\w$-]+$/.test(step)) path += path === "" ? step : `.${step}`;
    else path += `[${JSON.stringify(step)}]`;
  }
  return path;
}
