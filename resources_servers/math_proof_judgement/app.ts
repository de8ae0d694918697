import { allAssistantText, defineResourcesServer } from "nemo-gym";
import { z } from "zod";
import { readJudgement } from "../../libraries/proofs/judgement.ts";
import { judgementMetrics } from "./metrics.ts";

const text = z
  .string()
  .nullish()
  .transform((given) => given ?? null);

/** The model says whether a proof is right. */
export default defineResourcesServer({
  row: z.looseObject({ expected_judgement: text, problem_id: text, problem: text, proof: text }),
  seed: z.looseObject({
    expected_judgement: z.string().refine((gold) => readJudgement(gold) !== null, {
      message: "must say 'Judgement: Yes' or 'Judgement: No'",
    }),
  }),
  metrics: judgementMetrics,
  reverifyMode: "stateless",
  verify({ row, response }) {
    const given = readJudgement(allAssistantText(response));
    const gold = readJudgement(row.expected_judgement ?? "");
    const count = (isGiven: string, isGold: string) => Number(given === isGiven && gold === isGold);
    const [tp, fp, fn, tn] = [count("Yes", "Yes"), count("Yes", "No"), count("No", "Yes"), count("No", "No")];
    return { reward: tp + tn, extracted_judgement: given, tp, fp, fn, tn };
  },
});
