import { defineResourcesServer } from "nemo-gym";
import { laxInt, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";

const subsets = [
  "cwe",
  "fwe",
  "niah_multikey_1",
  "niah_multikey_2",
  "niah_multikey_3",
  "niah_multiquery",
  "niah_multivalue",
  "niah_single_1",
  "niah_single_2",
  "niah_single_3",
  "qa_1",
  "qa_2",
  "vt",
];
/** The result repeats the reward under the name of the subset, which must not replace another field. */
const reserved = ["outputs", "length", "subset", "reward", "response", "responses_create_params"];
/** Questions with several correct answers: one of them is enough. */
const questions = ["qa_1", "qa_2"];

/** RULER: the share of the expected texts that the answer contains. */
export default defineResourcesServer({
  row: z.object({
    outputs: z.array(z.string()).min(1),
    length: laxInt(),
    subset: z.string().refine((name) => !reserved.includes(name), { error: "is the name of another field" }),
  }),
  reverifyMode: "stateless",
  verify({ row, response }) {
    const answer = strip(outputText(response)).toLowerCase();
    const found = row.outputs.filter((text) => answer.includes(text.toLowerCase())).length;
    const reward = questions.includes(row.subset) ? Number(found > 0) : found / row.outputs.length;
    // A metric per subset: each rollout counts only for its own.
    const scores = subsets.map((subset) => [subset, subset === row.subset ? reward : null]);
    return { reward, ...Object.fromEntries(scores) };
  },
});
