import { isObject, loadsPlain, strip } from "nemo-gym/python";

const FENCE = /^```(?:json)?\s*([\s\S]*?)\s*```$/;

/** The points of a reply, which must be one JSON object with a `score` from 0 to the weight of the rubric. */
export function readScore(reply: string, weight: number): { score: number; reason: string } | null {
  const text = strip(reply);
  const value = parse(FENCE.exec(text)?.[1] ?? text);
  if (!isObject(value) || typeof value["score"] !== "number") return null;
  const { score, reason } = value;
  return score >= 0 && score <= weight ? { score, reason: typeof reason === "string" ? reason : "" } : null;
}

function parse(text: string): unknown {
  try {
    return loadsPlain(text);
  } catch {
    return undefined;
  }
}
