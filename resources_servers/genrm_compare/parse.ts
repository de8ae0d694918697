import { isObject, loadsPlain, parsePyFloat } from "nemo-gym/python";

export interface Comparison {
  score_1: number;
  score_2: number;
  ranking: number;
}

const KEYS = ["score_1", "score_2", "ranking"] as const;

/**
 * The scores in a reply: of the first object in a fenced `json` block that has one, else of the last such object in the
 * text. They may be nested under `overall`. Null if there are none, or if one is not a finite number.
 */
export function parseComparison(text: string, defaults: Comparison): Comparison | null {
  const fenced = [...text.matchAll(/```json(.*?)```/gis)].flatMap(([, block = ""]) => scoreObjects(block));
  const found = fenced[0] ?? scoreObjects(text).at(-1);
  if (!found) return null;
  const scores = { ...defaults };
  for (const key of KEYS) {
    if (!Object.hasOwn(found, key)) continue;
    const number = toFloat(found[key]);
    if (number === undefined) return null;
    scores[key] = number;
  }
  return scores;
}

function scoreObjects(text: string): Record<string, unknown>[] {
  return [...balancedObjects(text)].flatMap((candidate) => {
    const value = readObject(candidate);
    const scores = value && isObject(value["overall"]) ? value["overall"] : value;
    return scores && KEYS.some((key) => Object.hasOwn(scores, key)) ? [scores] : [];
  });
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = loadsPlain(text, { allowNonFinite: true });
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The outermost `{…}` of a text. Braces inside JSON strings do not count. */
function* balancedObjects(text: string): Generator<string> {
  let start = -1;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isString) {
      if (char === "\\") at++;
      else if (char === '"') isString = false;
    } else if (char === '"') isString = depth > 0;
    else if (char === "{") {
      if (depth++ === 0) start = at;
    } else if (char === "}" && depth > 0 && --depth === 0) yield text.slice(start, at + 1);
  }
}

/** As Python's `float()`, for finite numbers. */
function toFloat(value: unknown): number | undefined {
  const number = typeof value === "string" ? parsePyFloat(value) : Number(value);
  if (value === null || typeof value === "object" || number === undefined) return undefined;
  return Number.isFinite(number) ? number : undefined;
}
