import { defineResourcesServer } from "nemo-gym";
import { laxInt, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { accuracyBy } from "../../libraries/text-measures/metrics.ts";
import { boundedSimilarity } from "../../libraries/text-measures/similarity.ts";

/** Multi-round coreference: the model must find one of several similar texts in a long chat and repeat it after a prefix. */
export default defineResourcesServer({
  row: z.object({
    expected_answer: z.string(),
    random_string_to_prepend: z.string(),
    n_needles: laxInt(),
    n_tokens: laxInt(),
  }),
  reverifyMode: "stateless",
  // The comparison of two long texts would block the event loop for too long.
  verifyIn: "pool",
  metrics: accuracyBy("n_needles"),
  verify({ row, response }) {
    const { expected_answer: expected, random_string_to_prepend: prefix } = row;
    const answer = strip(outputText(response));
    const matched = answer.startsWith(prefix);
    const wanted = expected.startsWith(prefix) ? expected.slice(prefix.length) : expected;
    // An answer that is too long and repetitive to be compared in time does not match.
    const ratio = matched ? (boundedSimilarity(answer.slice(prefix.length), wanted) ?? 0) : 0;
    return { reward: ratio, prefix_matched: matched, seq_match_ratio: ratio };
  },
});
