import { defineResourcesServer } from "nemo-gym";
import { laxInt, outputText } from "nemo-gym/openai";
import { z } from "zod";
import { expectedItems, finalAnswerItems, setF1 } from "../../libraries/text-measures/answer-list.ts";
import { accuracyBy } from "../../libraries/text-measures/metrics.ts";

const optionalInt = laxInt()
  .nullish()
  .transform((value) => value ?? null);

/** Questions about a long list of edges. The reward is the F1 of the set of nodes in the answer. */
export default defineResourcesServer({
  row: z.object({
    expected_answer: z.string(),
    problem_type: z.string(),
    n_tokens: optionalInt,
    prompt_chars: optionalInt,
  }),
  reverifyMode: "stateless",
  metrics: accuracyBy("problem_type"),
  verify({ row, response }) {
    const nodes = finalAnswerItems(outputText(response));
    const f1 = nodes ? setF1(new Set(nodes), expectedItems(row.expected_answer)) : 0;
    return { reward: f1, f1, parse_failed: nodes === undefined, predicted_nodes: nodes ?? [] };
  },
});
