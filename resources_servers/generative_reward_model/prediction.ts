import { isObject, loadsPlain, toPyFloat, toPyInt } from "nemo-gym/python";

export interface Scores {
  score_1: number;
  score_2: number;
  ranking: number;
}

export interface Prediction {
  overall: Scores;
  rubrics: { id: number; scores: Scores }[];
}

/** The scores in the only JSON object of an answer; null if it has none, several, or one without the wanted keys. */
export function readPrediction(answer: string): Prediction | null {
  const [value, ...others] = blocks(answer).flatMap(readObject);
  if (!value || others.length > 0) return null;
  const { overall, rubric_evaluations: given } = value;
  const scores = readScores(overall);
  if (!scores || !Array.isArray(given) || given.length === 0) return null;
  const rubrics = given.flatMap((rubric: unknown) => {
    const own = readScores(rubric);
    const id = own && isObject(rubric) ? toPyInt(rubric["rubric_id"]) : undefined;
    return own && id !== undefined ? [{ id: Number(id), scores: own }] : [];
  });
  return rubrics.length === given.length ? { overall: scores, rubrics } : null;
}

/** The outermost `{…}`. Quotes count from the start of the text, so a text with an odd quote hides what follows. */
function blocks(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isString && char === "\\") at++;
    else if (char === '"') isString = !isString;
    else if (isString) continue;
    else if (char === "{") {
      if (depth++ === 0) start = at;
    } else if (char === "}" && depth > 0 && --depth === 0) found.push(text.slice(start, at + 1));
  }
  return found;
}

/** LaTeX in strings often has single backslashes; those that begin no escape of JSON are doubled. */
function readObject(block: string): Record<string, unknown>[] {
  for (const text of [block, block.replace(/\\(?!["\\/bfnrtu])/g, "\\\\")]) {
    try {
      const value = loadsPlain(text, { allowNonFinite: true });
      return isObject(value) ? [value] : [];
    } catch {}
  }
  return [];
}

function readScores(value: unknown): Scores | null {
  if (!isObject(value)) return null;
  const [score_1, score_2, ranking] = ["score_1", "score_2", "ranking"].map((key) => toPyFloat(value[key]));
  if (score_1 === undefined || score_2 === undefined || ranking === undefined) return null;
  return { score_1, score_2, ranking };
}
