import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { Row as ChoiceRow, Config } from "../../libraries/multiple-choice/row.ts";
import { findChoice, goldLetter, lettersOf, optionsOf } from "./choices.ts";
import { errorMode } from "./error-mode.ts";
import { bunsenMetrics } from "./metrics.ts";

const optionalText = z.string().nullish();
const Row = ChoiceRow.extend({
  bunsen_id: optionalText,
  choices: z.array(z.union([z.string(), z.looseObject({})])).nullish(),
  source: optionalText,
  bct_field: optionalText,
  bct_subfield: optionalText,
});
const described = ["bunsen_id", "source", "bct_field", "bct_subfield"] as const;

/** BunsenBench: multiple-choice questions of chemistry. The answer may be a letter or the text of an option. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  seed: Row.extend({ expected_answer: z.string().min(1) }),
  echo: [],
  reverifyMode: "stateless",
  metrics: bunsenMetrics,
  verify({ row, response }) {
    const text = strip(outputText(response));
    const options = optionsOf(row);
    const gold = goldLetter(row.expected_answer ?? "", options);
    const extracted = findChoice(text, options, lettersOf(options, gold));
    const correct = extracted !== undefined && extracted === gold;
    return {
      reward: correct,
      expected_answer: gold,
      extracted_answer: extracted ?? null,
      no_answer: extracted === undefined,
      error_mode: extracted === undefined ? errorMode(text, response) : correct ? "correct" : "wrong_answer",
      choices: row.choices ?? null,
      uuid: row.uuid ?? null,
      metadata: row.metadata ?? null,
      ...Object.fromEntries(described.map((name) => [name, row[name] ?? row.metadata?.[name] ?? null])),
    };
  },
});
