import { isObject, loadsPlain, strip, toPyFloat } from "nemo-gym/python";

/** One criterion of a rubric. */
export interface Criterion {
  criteria: string;
  operator: unknown;
  severity: number;
  must_pass: boolean;
}

/** The usable criteria of a rubric, which is a JSON list in a text. */
export function readRubric(text: string): Criterion[] {
  const value = readJson(text);
  return (Array.isArray(value) ? value : []).flatMap((item: unknown) => {
    if (!isObject(item) || typeof item["criteria"] !== "string" || strip(item["criteria"]) === "") return [];
    const modifiers = isObject(item["modifiers"]) ? item["modifiers"] : {};
    const severity = toPyFloat(modifiers["severity"]) ?? 1;
    return {
      criteria: strip(item["criteria"]),
      operator: item["operator"] ?? null,
      severity: severity > 0 && Number.isFinite(severity) ? severity : 1,
      must_pass: modifiers["category"] === "must_pass",
    };
  });
}

/** A vote of the judge about one criterion. */
export interface Vote {
  score: 0 | 1;
  evidence: string;
  reason: string;
}

/** The last object in a reply that has a score, which must be the integer 0 or 1. */
export function readVote(text: string): Vote | null {
  for (const span of objectSpans(text).reverse()) {
    const value = readJson(span);
    if (!isObject(value) || !Object.hasOwn(value, "score")) continue;
    const { score, extracted_evidence: evidence, reason } = value;
    // JSON.parse makes no difference between 1 and 1.0, but the original does.
    if ((score !== 0 && score !== 1) || /"score"\s*:\s*[01](?:\.|[eE])/.test(span)) return null;
    return { score, evidence: textOf(evidence), reason: textOf(reason) };
  }
  return null;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** The objects in braces that are not inside others. Braces in JSON strings do not count. */
function objectSpans(text: string): string[] {
  const spans: string[] = [];
  let depth = 0;
  let start = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (inString) {
      if (character === "\\") index++;
      else if (character === '"') inString = false;
    } else if (character === '"' && depth > 0) inString = true;
    else if (character === "{" && depth++ === 0) start = index;
    else if (character === "}" && depth > 0 && --depth === 0) spans.push(text.slice(start, index + 1));
  }
  return spans;
}

function readJson(text: string): unknown {
  try {
    return loadsPlain(text);
  } catch {
    return undefined;
  }
}
