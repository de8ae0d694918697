import { HttpError } from "nemo-gym";
import { strip } from "nemo-gym/python";
import { AmbiguousPatternError, choiceByPatterns } from "nemo-gym/verify";
import type { Row } from "./row.ts";

export type Grade = { reward: number; expected_answer: string; extracted_answer: string | null };

/** Grades a multiple-choice answer: the row's own patterns first, then `find`. */
export function gradeChoice(text: string, row: Row, find: (text: string) => string | undefined): Grade {
  const gold = strip(row.expected_answer ?? "").toUpperCase();
  const answer = strip(text);
  const found = answer === "" ? undefined : (byRowPatterns(answer, row) ?? find(answer));
  return {
    reward: found !== undefined && gold !== "" && found === gold ? 1 : 0,
    expected_answer: gold,
    extracted_answer: found ?? null,
  };
}

function byRowPatterns(text: string, row: Row): string | undefined {
  const patterns = row.template_metadata?.output_regex;
  if (patterns === undefined) return undefined;
  try {
    return choiceByPatterns(text, patterns, row.options);
  } catch (error) {
    if (!(error instanceof AmbiguousPatternError)) throw error;
    // The row is at fault, not the model, so the result must not be a reward of 0.
    const loc = ["body", "template_metadata", "output_regex"];
    throw new HttpError(422, [{ type: "value_error", loc, msg: error.message, input: patterns }]);
  }
}
