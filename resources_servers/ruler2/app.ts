import { defineResourcesServer } from "nemo-gym";
import { laxInt, outputText } from "nemo-gym/openai";
import { pyStr, strip } from "nemo-gym/python";
import { z } from "zod";
import { wordAccuracy } from "../../libraries/text-measures/word-errors.ts";
import { chosenLetter } from "./chosen-letter.ts";
import { ruler2Metrics } from "./metrics.ts";

const matchTypes = ["all", "part", "2steps"] as const;
const controlCharacter = /[\x00-\x1f]/g;

/** RULER 2: facts and questions in long texts, scored by the words of the answer or by the chosen letter. */
export default defineResourcesServer({
  row: z.object({
    expected_answer: z.unknown().refine((value) => value !== undefined, { error: "is required" }),
    eval_type: z.string().default("ruler2"),
    match_type: z.enum(matchTypes).default("all"),
    task: z
      .string()
      .nullish()
      .transform((task) => task ?? null),
    length: laxInt()
      .nullish()
      .transform((length) => length ?? null),
  }),
  echo: ["eval_type", "match_type", "task", "length"],
  reverifyMode: "stateless",
  metrics: ruler2Metrics,
  verify({ row, response }) {
    const text = outputText(response);
    const predicted_answer = strip(text.replace(controlCharacter, "\n"));
    if (row.eval_type === "multichoice") {
      const letter = chosenLetter(text);
      const gold = strip(pyStr(row.expected_answer)).toUpperCase();
      return { reward: letter === gold, predicted_answer, extracted_answer: letter ?? null };
    }
    const { expected_answer: expected } = row;
    const references = (Array.isArray(expected) ? expected : [expected]).map((value) => pyStr(value));
    return { reward: wordScore(text, references, row.match_type), predicted_answer, extracted_answer: null };
  },
});

function wordScore(text: string, references: string[], matchType: (typeof matchTypes)[number]): number {
  if (references.length === 0) return 0;
  const read = { all: text, part: withoutDocuments(text), "2steps": text.split("\n\n").at(-1) ?? "" }[
    matchType
  ];
  const answer = read.toLowerCase();
  const scores = references.map((reference) => {
    const wanted = reference.toLowerCase();
    return answer.includes(wanted) ? 1 : wordAccuracy(answer, wanted);
  });
  if (matchType === "part") return Math.max(...scores);
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

/** Removes repeated documents: from `Document 3:` to the next blank line. */
function withoutDocuments(text: string): string {
  const start = /Document \p{Nd}+:/gu;
  let kept = "";
  let from = 0;
  for (let match = start.exec(text); match; match = start.exec(text)) {
    const end = text.indexOf("\n\n", start.lastIndex);
    if (end < 0) break;
    kept += text.slice(from, match.index);
    from = end + 2;
    start.lastIndex = from;
  }
  return kept + text.slice(from);
}
