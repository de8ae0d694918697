import { defineResourcesServer, HttpError } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { z } from "zod";
import { likelihoodMetrics } from "./metrics.ts";
import { Row, scoreRow } from "./score.ts";

const Scores = z.object({
  scores: z.array(
    z.object({ logprob: z.number(), greedy: z.boolean(), tokens: z.number(), unscored: z.number() }),
  ),
});

/** Scores base models by the log probabilities of given texts: multiple choice, continuations and perplexity. */
export default defineResourcesServer({
  row: Row,
  echo: [],
  reverifyMode: "stateless",
  metrics: likelihoodMetrics,
  verify({ row, response }) {
    const read = Scores.safeParse(jsonOrText(outputText(response)));
    if (!read.success)
      throw new HttpError(
        422,
        "loglikelihood: the response has no log probabilities; run these rows with loglikelihood_agent",
      );
    return { ...scoreRow(row, read.data.scores), output_type: row.output_type };
  },
});

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
