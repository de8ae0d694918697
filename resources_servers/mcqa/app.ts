import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { gradeChoice } from "../../libraries/multiple-choice/grade.ts";
import { choiceMetrics } from "../../libraries/multiple-choice/metrics.ts";
import { Config, Row, Task } from "../../libraries/multiple-choice/row.ts";
import { findAnswer } from "./find-answer.ts";

/** Multiple-choice questions: compares the letter of the model's answer with the expected one. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  seed: Task,
  echo: [],
  reverifyMode: "stateless",
  metrics: choiceMetrics,
  verify: ({ config, row, response }) =>
    gradeChoice(outputText(response), row, (text) =>
      findAnswer(
        text,
        config.grading_mode ?? row.grading_mode,
        row.options,
        row.template_metadata?.answer_prefix ?? undefined,
      ),
    ),
});
