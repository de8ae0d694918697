import { compilePyRegex, type PyMatch, RegexBudgetError, RegexSyntaxError, strip } from "nemo-gym/python";

/**
 * Picks the answer out of a text: the last match, of it the first group that is not blank, else the whole match. A
 * pattern that matches nothing, is no valid pattern or takes too long leaves the text as it is.
 */
export function extractAnswer(text: string, pattern: string | null | undefined): string {
  if (!pattern) return text;
  let last: PyMatch | undefined;
  try {
    for (const match of compilePyRegex(pattern, { multiline: true, dotAll: true }).finditer(text))
      last = match;
  } catch (error) {
    // The pattern comes with the data, and a bad one must not cost the rollout.
    if (error instanceof RegexSyntaxError || error instanceof RegexBudgetError) return text;
    throw error;
  }
  if (!last) return text;
  const group = last.groups().find((value) => value !== null && strip(value) !== "");
  return strip(group ?? last.group() ?? "");
}
