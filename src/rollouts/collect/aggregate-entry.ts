import { isObject } from "../../python/json/json-object.ts";
import type { Row } from "../files/jsonl-rows.ts";

/** Large members that no metric looks at. */
const LEFT_OUT = new Set([
  "response",
  "responses_create_params",
  "ng_agent_observations",
  "ng_model_call_capture",
  "ng_trajectory",
]);

/** A rollout row as it is sent to `/aggregate_metrics`: without its bulk, but with the token usage. */
export function aggregateEntry(row: Row): Row {
  const entry: Row = {};
  for (const [key, value] of Object.entries(row)) if (!LEFT_OUT.has(key)) entry[key] = value;
  const response = row["response"];
  const usage = isObject(response) ? response["usage"] : undefined;
  if (isObject(usage) && Object.keys(usage).length > 0) entry["response"] = { usage };
  return entry;
}
