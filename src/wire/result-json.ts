import { isObject } from "../base/python/json/door.ts";
import { floatCompact, PyFloat } from "../base/python/numbers/door.ts";

type Fields = Record<string, unknown>;

/**
 * The JSON text of an answer of a server or of a rollout row. Rewards and log-probabilities are written as floats: `1.0`,
 * not `1`. From an integer, trainers in Python would build integer tensors, and Hugging Face would infer integer columns.
 *
 * Only the objects with these fields are written field by field. `JSON.stringify` writes all other values.
 */
export function resultJson(value: unknown): string {
  if (!isObject(value) || !hasFloats(value)) return JSON.stringify(value) ?? "null";
  return objectText(value, resultField);
}

function hasFloats(value: Fields): boolean {
  const { reward, reward_components, output, response } = value;
  return (
    isNumber(reward) ||
    isObject(reward_components) ||
    outputHasLogProbs(output) ||
    (isObject(response) && outputHasLogProbs(response["output"]))
  );
}

function outputHasLogProbs(output: unknown): boolean {
  return (
    Array.isArray(output) &&
    output.some((item) => isObject(item) && Array.isArray(item["generation_log_probs"]))
  );
}

function resultField(key: string, value: unknown): string | undefined {
  switch (key) {
    case "reward":
      return floatText(value);
    case "reward_components":
      return isObject(value) ? objectText(value, (_, part) => floatText(part)) : JSON.stringify(value);
    case "response":
      return isObject(value) && outputHasLogProbs(value["output"])
        ? objectText(value, resultField)
        : JSON.stringify(value);
    case "output":
      return outputHasLogProbs(value) ? arrayText(value as unknown[], outputItem) : JSON.stringify(value);
    default:
      return JSON.stringify(value);
  }
}

function outputItem(item: unknown): string | undefined {
  return isObject(item) && Array.isArray(item["generation_log_probs"])
    ? objectText(item, itemField)
    : JSON.stringify(item);
}

function itemField(key: string, value: unknown): string | undefined {
  if (key !== "generation_log_probs" || !Array.isArray(value)) return JSON.stringify(value);
  return arrayText(value, floatText);
}

function objectText(value: Fields, write: (key: string, value: unknown) => string | undefined): string {
  let text = "";
  for (const key of Object.keys(value)) {
    const member = write(key, value[key]);
    if (member !== undefined) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${member}`;
  }
  return `{${text}}`;
}

function arrayText(values: readonly unknown[], write: (value: unknown) => string | undefined): string {
  return `[${values.map((value) => write(value) ?? "null").join(",")}]`;
}

function floatText(value: unknown): string | undefined {
  if (!isNumber(value)) return JSON.stringify(value);
  const number = Number(value);
  return Number.isFinite(number) ? floatCompact(number) : "null";
}

function isNumber(value: unknown): value is number | PyFloat {
  return typeof value === "number" || value instanceof PyFloat;
}
