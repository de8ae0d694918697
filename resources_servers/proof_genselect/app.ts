import { defineResourcesServer } from "nemo-gym";
import { laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import { parsePyInt } from "nemo-gym/python";
import { z } from "zod";
import { finalAnswer } from "../../libraries/proofs/answer.ts";

/** The model chooses the better one of two proofs. */
export default defineResourcesServer({
  config: z.object({ assert_think_end: laxBool().default(false) }),
  row: z.object({
    problem: z.string(),
    proof_1: z.string(),
    proof_2: z.string(),
    correct_index: laxInt(),
    score_1: laxFloat().nullish(),
    score_2: laxFloat().nullish(),
  }),
  echo: [],
  reverifyMode: "stateless",
  verify({ config, row, response }) {
    const chosen = readChoice(finalAnswer(response, config.assert_think_end) ?? "");
    return { reward: chosen !== null && chosen === row.correct_index ? 1 : 0 };
  },
});

/** The number between the first `<best_solution>` and the next `</best_solution>`: 1 or 2; else null. */
function readChoice(text: string): number | null {
  const [, inside] = /<best_solution>(.*?)<\/best_solution>/s.exec(text) ?? [];
  const chosen = inside === undefined ? undefined : Number(parsePyInt(inside));
  return chosen === 1 || chosen === 2 ? chosen : null;
}
