import { isObject, type JsonObject, orderedKeys } from "../../base/python/json/door.ts";
import { numberOf } from "./json-values.ts";

/** The verdict of a verifier, from the fields of its row. */
export interface Verdict {
  reward: number | null;
  /** Numbers and booleans that make up the reward. */
  components: { name: string; value: number | boolean }[];
  /** The answer that was extracted, and the expected one. */
  extracted: { name: string; value: unknown } | undefined;
  expected: { name: string; value: unknown } | undefined;
  /** Prompts, answers and verdicts of judges. */
  judge: { name: string; value: unknown }[];
  /** All other fields the environment added. */
  others: { name: string; value: unknown }[];
}

const OWN = new Set([
  "responses_create_params",
  "response",
  "reward",
  "agent_ref",
  "skills_ref",
  "mask_sample",
  "ng_trajectory",
  "ng_model_call_capture",
]);
const EXTRACTED = /^(?:extracted|predicted|parsed|submitted)(?:_|$)|^model_(?:output|answer|patch)$/;
const EXPECTED = /^(?:expected|reference|ground_truth|gold|target|correct|label)(?:_(?!match)|$)|^answer$/;
const JUDGE = /judge|verdict|rubric|grader/i;

/** Assigns the fields of a row to the parts of a verdict. */
export function verdictOf(row: JsonObject): Verdict {
  const verdict: Verdict = {
    reward: numberOf(row["reward"]),
    components: [],
    extracted: undefined,
    expected: undefined,
    judge: [],
    others: [],
  };
  for (const name of orderedKeys(row)) {
    const value = row[name];
    // A verifier that found no answer says so with null.
    if (value === null && EXTRACTED.test(name)) verdict.extracted ??= { name, value };
    if (OWN.has(name) || name.startsWith("_ng_") || value === null || value === undefined) continue;
    const number = typeof value === "boolean" ? value : numberOf(value);
    if (JUDGE.test(name)) verdict.judge.push({ name, value });
    else if (name === "reward_components" && isObject(value)) addComponents(verdict, value);
    else if (EXTRACTED.test(name) && (verdict.extracted?.value ?? null) === null)
      verdict.extracted = { name, value };
    else if (EXPECTED.test(name) && verdict.expected === undefined) verdict.expected = { name, value };
    else if (number !== null) verdict.components.push({ name, value: number });
    else verdict.others.push({ name, value });
  }
  return verdict;
}

function addComponents(verdict: Verdict, components: JsonObject): void {
  for (const name of orderedKeys(components)) {
    const value = components[name];
    const number = typeof value === "boolean" ? value : numberOf(value);
    if (number !== null) verdict.components.push({ name, value: number });
    else verdict.others.push({ name: `reward_components.${name}`, value });
  }
}
