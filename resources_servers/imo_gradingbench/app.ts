import { allAssistantText, defineResourcesServer } from "nemo-gym";
import { splitWords, strip } from "nemo-gym/python";
import { z } from "zod";
import { gradingMetrics } from "./metrics.ts";

const POINTS = { correct: 7, almost: 6, partial: 1, incorrect: 0 };
type Grade = keyof typeof POINTS;

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? null);

/** The model grades a proof: correct, almost, partial or incorrect. */
export default defineResourcesServer({
  row: z.looseObject({ expected_answer: text, grading_id: text, problem_id: text }),
  seed: z.looseObject({ expected_answer: z.string() }),
  metrics: gradingMetrics,
  reverifyMode: "stateless",
  verify({ row, response }) {
    const grade = readGrade(allAssistantText(response));
    const gold = gradeOf(strip(row.expected_answer ?? ""));
    const known = grade !== null && gold !== null;
    return {
      reward: known && grade === gold ? 1 : 0,
      extracted_grade: grade,
      binary_match: known && isHigh(grade) === isHigh(gold),
      score_diff: known ? Math.abs(POINTS[grade] - POINTS[gold]) : null,
    };
  },
});

/** The last word, without punctuation and Markdown. */
function readGrade(answer: string): Grade | null {
  return gradeOf((splitWords(answer).at(-1) ?? "").replace(/[*_`.,;:!?()[\]{}]/g, ""));
}

function gradeOf(word: string): Grade | null {
  const grade = word.toLowerCase();
  return Object.hasOwn(POINTS, grade) ? (grade as Grade) : null;
}

function isHigh(grade: Grade): boolean {
  return POINTS[grade] >= POINTS.almost;
}
