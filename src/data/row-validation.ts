import { errorMessage } from "../base/errors.ts";
import { PositionRanges } from "../base/files/door.ts";
import { isObject, type JsonObject, loads, loadsPlain } from "../base/python/json/door.ts";
import { readCreateParams, type Tool, type Trail } from "../wire/schemas/door.ts";
import { DatasetError } from "./errors.ts";
import { type Line, readTextLines, unreadableReason } from "./lines.ts";

/** A problem of a row. */
export interface RowProblem {
  /** The place in the row, such as `responses_create_params.tools[0].strict`. Empty for the whole row. */
  path: string;
  message: string;
}

export type RowVerdict =
  | { valid: true; row: JsonObject; params: JsonObject }
  /** `row` is undefined if the line is not a JSON object. */
  | { valid: false; row: JsonObject | undefined; problems: RowProblem[] };

const MAX_PROBLEMS = 10;

/** Parses and checks a line. A valid row is an object with valid `responses_create_params` of the Responses API. */
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

/** Integers of this size lose digits as plain numbers, so the row is parsed again exactly. */
const LONG_INTEGER = /\d{19}/;
/** Keys that JavaScript moves to the front of an object. */
const INDEX_NAME = /^\d+$/;
/** In Python the integer -0 is 0, while the float -0.0 keeps its sign. */
const NEGATIVE_ZERO = /[\s:,[]-0(?![.\deE])/;

/** Checks a parsed row. */
export function validateRow(row: JsonObject): RowVerdict {
  if (row["responses_create_params"] === undefined) {
    return { valid: false, row, problems: [{ path: "responses_create_params", message: "Field required" }] };
  }
  const trail: Trail = { loc: ["responses_create_params"], detail: [] };
  const params = readCreateParams(row["responses_create_params"], trail);
  rejectToolsWithoutStrict(params?.tools, trail);
  if (trail.detail.length === 0) return { valid: true, row, params: params as unknown as JsonObject };
  const problems = trail.detail
    .slice(0, MAX_PROBLEMS)
    .map(({ loc, msg }) => ({ path: jsonPath(loc), message: msg }));
  return { valid: false, row, problems };
}

/** Servers accept tools without `strict`, but the Python original rejects such rows, and datasets are shared with it. */
function rejectToolsWithoutStrict(tools: readonly Tool[] | null | undefined, trail: Trail): void {
  for (const [index, tool] of (tools ?? []).entries()) {
    if (tool?.type !== "function" || tool.strict !== undefined) continue;
    const loc = [...trail.loc, "tools", index, "strict"];
    trail.detail.push({ type: "missing", loc, msg: "Field required", input: tool });
  }
}

/** Plain values are enough for statistics, except for a few texts that JavaScript reads differently. */
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

/** Fails unless every line of a training file is an object with `responses_create_params`. */
export async function checkTrainingRows(file: string, signal?: AbortSignal): Promise<void> {
  const bad = new PositionRanges();
  let line = 0;
  for await (const text of readTextLines(file, signal)) {
    line++;
    if (!isTrainingRow(text)) bad.add(line, 1);
  }
  if (bad.count === 0) return;
  throw new DatasetError(
    "DATASET_ROW_INVALID",
    `${bad.count} of ${line} rows of '${file}' are not training rows: each must be a JSON object with ` +
      `'responses_create_params' (lines ${bad.text()}). Nothing was uploaded.`,
  );
}

function isTrainingRow(line: Line): boolean {
  if (line === null) return false;
  try {
    const row = loadsPlain(line, { allowNonFinite: true });
    return isObject(row) && Object.hasOwn(row, "responses_create_params");
  } catch {
    // The caller reports the line.
    return false;
  }
}
