import { errorMessage } from "../../base/errors.ts";
import { isObject, type JsonObject, loads, loadsPlain } from "../../base/python/json/door.ts";
import { validateRow } from "../../data/light-door.ts";
import { float, readResponse, type Trail } from "../../wire/schemas/door.ts";
import type { Problem } from "../api-types.ts";

const MAX_PROBLEMS = 10;

/**
 * Why a row is not a verify response, which has `responses_create_params`, `response` and `reward`; other keys are
 * allowed.
 */
export function problemsOf(text: string): Problem[] {
  let row: unknown;
  try {
    row = loadsPlain(text, { allowNonFinite: true });
    const first = isObject(row) ? Object.keys(row)[0] : undefined;
    // JavaScript moves such keys to the front; the exact reader records their order.
    if (first !== undefined && /^\d+$/.test(first)) row = loads(text, { allowNonFinite: true });
  } catch (error) {
    const reason = errorMessage(error);
    const message = reason.startsWith("nested deeper")
      ? `the row is ${reason}`
      : `the line is not JSON: ${reason}`;
    return [{ path: "", message: text.trim() === "" ? "the line is blank" : message }];
  }
  if (!isObject(row)) return [{ path: "", message: "the row is not a JSON object" }];
  const verdict = validateRow(row);
  const problems = verdict.valid ? [] : [...verdict.problems];
  // A failed attempt may only have its input.
  if (typeof row["_ng_failure_class"] !== "string") problems.push(...responseProblems(row));
  return problems.slice(0, MAX_PROBLEMS);
}

function responseProblems(row: JsonObject): Problem[] {
  const trail: Trail = { loc: ["response"], detail: [] };
  const problems: Problem[] = [];
  if (row["response"] === undefined) problems.push({ path: "response", message: "Field required" });
  else readResponse(row["response"], trail);
  const reward: Trail = { loc: ["reward"], detail: [] };
  if (row["reward"] === undefined) problems.push({ path: "reward", message: "Field required" });
  else float(row["reward"], reward);
  for (const { loc, msg } of [...trail.detail, ...reward.detail])
    problems.push({ path: loc.join("."), message: msg });
  return problems;
}
