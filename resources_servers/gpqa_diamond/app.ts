import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { offeredLetters } from "nemo-gym/verify";
import { z } from "zod";
import { gradeChoice } from "../../libraries/multiple-choice/grade.ts";
import { choiceMetrics } from "../../libraries/multiple-choice/metrics.ts";
import { Row as ChoiceRow, Config, Task } from "../../libraries/multiple-choice/row.ts";
import { findLetter } from "./find-letter.ts";

/** As in `mcqa`, but with at most one answer pattern. */
const Row = ChoiceRow.extend({
  template_metadata: z.looseObject({ output_regex: z.string().optional() }).nullish(),
});

/** GPQA Diamond: questions in the format of `mcqa` with its own way to find the answer; the grading mode has no effect. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  seed: Task,
  echo: [],
  metrics: choiceMetrics,
  verify: ({ row, response }) =>
    gradeChoice(outputText(response), row, (text) => {
      const letter = findLetter(text);
      const letters = offeredLetters(row.options);
      return letter === undefined || letters.size === 0 || letters.has(letter) ? letter : undefined;
    }),
});
