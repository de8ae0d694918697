import { floatRepr, isObject, loads, PyFloat, parsePyFloat, strip } from "nemo-gym/python";

export interface CriterionScore {
  passed: boolean;
  score: string;
  rationale: string;
}

/** The smallest score that is 1 when it is rounded to four places. */
const PASSING = 0.99995;

/** The JSON object of a reply, with or without a fence around it; null without a finite score and a rationale. */
export function readScore(reply: string): CriterionScore | null {
  const [, inner = reply] = /^\s*```(?:json)?\s*(.*?)\s*```\s*$/is.exec(reply) ?? [];
  let value: unknown;
  try {
    value = loads(strip(inner));
  } catch {
    return null;
  }
  if (!isObject(value) || typeof value["rationale"] !== "string") return null;
  const score = decimalText(value["score"]);
  const number = score === undefined ? Number.NaN : Number(score);
  if (score === undefined || !Number.isFinite(number)) return null;
  return { passed: number >= PASSING, score, rationale: value["rationale"] };
}

/** A number as Python's `Decimal` writes it. */
function decimalText(value: unknown): string | undefined {
  if (value instanceof PyFloat) return floatRepr(value);
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value !== "string") return undefined;
  const number = parsePyFloat(value);
  if (number === undefined) return undefined;
  return /e/i.test(value) ? String(number) : strip(value);
}
