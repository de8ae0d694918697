import { compilePyRegex, type PyMatch, RegexBudgetError, RegexSyntaxError, strip } from "nemo-gym/python";

/**
 * Extracts the answer from a text: the first non-blank group of the last match, else the whole match. The text is returned
 * unchanged if the pattern does not match, is invalid or takes too long.
 */
export function extractAnswer(text: string, pattern: string | null | undefined): string {
  if (!pattern) return text;
  let last: PyMatch | undefined;
  try {
    for (const match of compilePyRegex(pattern, { multiline: true, dotAll: true }).finditer(text))
      last = match;
  } catch (error) {
    // The pattern comes from the dataset; an invalid one must not fail the rollout.
    if (error instanceof RegexSyntaxError || error instanceof RegexBudgetError) return text;
    throw error;
  }
  if (!last) return text;
  const group = last.groups().find((value) => value !== null && strip(value) !== "");
  return strip(group ?? last.group() ?? "");
}
