import { functionCalls, type HasOutput, laxInt } from "nemo-gym/openai";
import { JsonTextError, loads, PyFloat } from "nemo-gym/python";

export interface ExtractionTask {
  expected_synonym_values: number[];
  minefield_label: string;
  minefield_label_value: number;
}

export interface ExtractionScore extends Record<string, unknown> {
  reward: number;
  parsed_synonym_values: number[];
  accuracy: boolean;
  set_overlap: number;
  original_term_minefield_hit: boolean;
  order_instruction_following_failure: boolean;
}

/** Scores the last `extract_synonym_values` call; a malformed call gets 0. */
export function scoreExtraction(task: ExtractionTask, response: HasOutput): ExtractionScore {
  const submitted = lastSubmission(response);
  const parsed = submitted?.map(asInteger);
  if (
    !submitted ||
    !parsed?.every((value) => value !== undefined) ||
    task.expected_synonym_values.length === 0
  ) {
    return score({ values: [], accuracy: false, overlap: 0, hit: false });
  }
  const expected = task.expected_synonym_values;
  const numbers = submitted.map(asNumber);
  const accuracy = numbers.length === expected.length && numbers.every((value, i) => value === expected[i]);
  const common = new Set(expected.filter((value) => numbers.includes(value)));
  return score({
    values: parsed,
    accuracy,
    overlap: common.size / expected.length,
    hit: submitted.includes(task.minefield_label) || numbers.includes(task.minefield_label_value),
  });
}

function score(parts: {
  values: number[];
  accuracy: boolean;
  overlap: number;
  hit: boolean;
}): ExtractionScore {
  return {
    reward: parts.accuracy ? 1 : 0,
    parsed_synonym_values: parts.values,
    accuracy: parts.accuracy,
    set_overlap: parts.overlap,
    original_term_minefield_hit: parts.hit,
    order_instruction_following_failure: !parts.accuracy && parts.overlap === 1,
  };
}

/** The submitted list; empty if the model submitted nothing, undefined if its call is malformed. */
function lastSubmission(response: HasOutput): unknown[] | undefined {
  const call = functionCalls(response).findLast(({ name }) => name === "extract_synonym_values");
  if (!call) return [];
  const values = readValues(call.arguments);
  return Array.isArray(values) ? values : undefined;
}

function readValues(text: string): unknown {
  try {
    const value = loads(text, { allowNonFinite: true });
    return typeof value === "object" && value !== null && "synonym_values" in value
      ? value.synonym_values
      : undefined;
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}

/** Equality as in Python: true equals 1, and a string never equals a number. */
function asNumber(value: unknown): number | undefined {
  if (value instanceof PyFloat) return value.value;
  return typeof value === "boolean" || typeof value === "bigint" || typeof value === "number"
    ? Number(value)
    : undefined;
}

const integer = laxInt();

function asInteger(value: unknown): number | undefined {
  return integer.safeParse(value).data;
}
