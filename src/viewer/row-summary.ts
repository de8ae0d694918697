import { validateRow } from "../datasets/row-validation.ts";
import { errorMessage } from "../errors.ts";
import { loads, loadsPlain } from "../python/json/json-loads.ts";
import { isObject, type JsonObject } from "../python/json/json-object.ts";
import { isTruthy } from "../python/truth.ts";
import { rewardOf } from "../results/export/export-selection.ts";
import { keyOfRow } from "../rollouts/files/row-key.ts";
import { agentNameOf } from "../rollouts/inputs/expand.ts";
import { float, type Trail } from "../wire/schemas/readers.ts";
import { readResponse } from "../wire/schemas/responses.ts";
import type { Problem, RowState } from "./api-types.ts";
import type { ScannedLine } from "./line-scanner.ts";
import { excerptOf, lastText } from "./text-of-items.ts";

const MAX_PROBLEMS = 10;

/** What the list shows of a row. */
export interface RowSummary {
  state: RowState;
  problems: Problem[];
  task: number | undefined;
  rollout: number | undefined;
  reward: number | undefined;
  agent: string | undefined;
  failure: string | undefined;
  masked: boolean;
  outputTokens: number | undefined;
  responseId: string | undefined;
  prompt: string;
  answer: string;
  /** The row and its normalized create params, if those are valid; what the dataset statistics are made of. */
  observed: { row: JsonObject; params: JsonObject } | undefined;
}

/** Reads one line: a verify response has `responses_create_params`, `response` and `reward`; other keys are welcome. */
export function summarizeLine(line: Pick<ScannedLine, "text" | "problem">): RowSummary {
  if (line.text === undefined) return unreadable(line.problem ?? "the line cannot be read");
  let row: unknown;
  try {
    row = loadsPlain(line.text, { allowNonFinite: true });
    const first = isObject(row) ? Object.keys(row)[0] : undefined;
    // JavaScript moves such keys to the front; the exact reader notes where they stood.
    if (first !== undefined && /^\d+$/.test(first)) row = loads(line.text, { allowNonFinite: true });
  } catch (error) {
    return unreadable(
      line.text.trim() === "" ? "the line is blank" : `the line is not JSON: ${errorMessage(error)}`,
    );
  }
  return isObject(row) ? summarizeRow(row) : unreadable("the row is not a JSON object");
}

function summarizeRow(row: JsonObject): RowSummary {
  const failure = typeof row["_ng_failure_class"] === "string" ? row["_ng_failure_class"] : undefined;
  const verdict = validateRow(row);
  const problems = verdict.valid ? [] : [...verdict.problems];
  // A failed attempt may have got no further than its input.
  if (failure === undefined) problems.push(...responseProblems(row));
  const response = isObject(row["response"]) ? row["response"] : {};
  const params = isObject(row["responses_create_params"]) ? row["responses_create_params"] : {};
  const usage = isObject(response["usage"]) ? response["usage"] : {};
  const tokens = usage["output_tokens"];
  const key = keyOfRow(row);
  return {
    state: problems.length === 0 ? "ok" : "invalid",
    problems: problems.slice(0, MAX_PROBLEMS),
    task: key?.taskIndex,
    rollout: key?.rolloutIndex,
    reward: rewardOf(row),
    agent: agentNameOf(row),
    failure,
    masked: isTruthy(row["mask_sample"]),
    outputTokens: typeof tokens === "number" && tokens >= 0 ? tokens : undefined,
    responseId: typeof response["id"] === "string" ? response["id"] : undefined,
    prompt: excerptOf(lastText(params["input"], "user")),
    answer: excerptOf(lastText(response["output"], "assistant")),
    observed: verdict.valid ? { row, params: verdict.params } : undefined,
  };
}

function responseProblems(row: JsonObject): Problem[] {
  const trail: Trail = { loc: ["response"], detail: [] };
  const problems: Problem[] = [];
  if (row["response"] === undefined) problems.push({ path: "response", message: "Field required" });
  else readResponse(row["response"], trail);
  const reward: Trail = { loc: ["reward"], detail: [] };
  if (row["reward"] === undefined) problems.push({ path: "reward", message: "Field required" });
  else float(row["reward"], reward);
  for (const { loc, msg } of [...trail.detail, ...reward.detail]) {
    problems.push({ path: loc.join("."), message: msg });
  }
  return problems;
}

function unreadable(message: string): RowSummary {
  return {
    state: "unreadable",
    problems: [{ path: "", message }],
    task: undefined,
    rollout: undefined,
    reward: undefined,
    agent: undefined,
    failure: undefined,
    masked: false,
    outputTokens: undefined,
    responseId: undefined,
    prompt: "",
    answer: "",
    observed: undefined,
  };
}
