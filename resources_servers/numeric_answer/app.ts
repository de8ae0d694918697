import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { lastClosedBoxed } from "nemo-gym/verify";
import { z } from "zod";
import { parseNumber } from "./parse-number.ts";

/** Compares the number in the last `\boxed{…}` with the expected one, independent of the notation. */
export default defineResourcesServer({
  row: z.object({ expected_answer: z.union([z.string(), z.number()]).transform(String) }),
  echo: [],
  reverifyMode: "stateless",
  verify({ row, response }) {
    const extracted = lastClosedBoxed(outputText(response))?.trim();
    return {
      reward: extracted !== undefined && sameAnswer(extracted, row.expected_answer) ? 1 : 0,
      expected_answer: row.expected_answer,
      extracted_answer: extracted ?? null,
    };
  },
});

/** Whether two numbers are equal. If the expected answer is not a number (`07:30`), the texts must be equal. */
function sameAnswer(given: string, expected: string): boolean {
  const wanted = parseNumber(expected);
  if (wanted === undefined) return given.toLowerCase() === expected.trim().toLowerCase();
  const number = parseNumber(given);
  return number?.numerator === wanted.numerator && number.denominator === wanted.denominator;
}
