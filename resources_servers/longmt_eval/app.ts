import { defineResourcesServer, errorMessage } from "nemo-gym";
import { laxBool, laxFloat, laxInt, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { longmtMetrics } from "./metrics.ts";
import { type Scorer, serviceScorer } from "./scorer.ts";

const Config = z
  .object({
    compute_segale: laxBool().default(true),
    /** Services that align and estimate, used in turn. */
    scorer_urls: z.array(z.url()).default([]),
    scorer_timeout_seconds: z.number().positive().default(600),
    /** Whether an answer with thoughts is refused: they would be scored as a translation. */
    assert_no_reasoning: laxBool().default(true),
  })
  .refine(({ compute_segale, scorer_urls }) => !compute_segale || scorer_urls.length > 0, {
    error: "is required with compute_segale",
    path: ["scorer_urls"],
  });

const Scored = z.object({
  comet_qe: laxFloat(),
  lang_fidelity: z.number().nullable().default(null),
  total_seg: laxInt().default(0),
  misaligned_seg: laxInt().default(0),
  spans: z.array(z.looseObject({})).nullable().default(null),
});

const unscored = {
  reward: 0,
  comet_qe: null,
  lang_fidelity: null,
  total_seg: 0,
  misaligned_seg: 0,
  spans: null,
  segale_error: null,
};

/** Translations of whole documents, scored without references by aligned sentences. */
export function longmtEval(createScorer: (config: z.output<typeof Config>) => Scorer) {
  return defineResourcesServer({
    config: Config,
    row: z.object({
      text: z.string(),
      source_language: z.string(),
      target_language: z.string(),
      doc_id: z.string(),
      target_len: laxInt().nullable().default(null),
    }),
    reverifyMode: "stateless",
    metrics: longmtMetrics,
    start: ({ config }) => createScorer(config),
    async verify({ config, row, response, state: score, signal }) {
      const text = outputText(response);
      const generation = strip(text);
      if (config.assert_no_reasoning && /<\/?think>/.test(text))
        return { ...unscored, generation, segale_error: "the answer contains thoughts" };
      if (generation === "" || !config.compute_segale) return { ...unscored, generation };
      let scored: unknown;
      try {
        scored = await score(row.text, generation, row.target_language, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        return { ...unscored, generation, ...failure(errorMessage(error)) };
      }
      const { error } = z.looseObject({ error: z.string().nullish() }).parse(scored);
      const result = Scored.safeParse(scored);
      if (error || !result.success)
        return { ...unscored, generation, ...failure(error || "the scorer returned no quality") };
      return { reward: result.data.comet_qe, generation, ...result.data, segale_error: null };
    },
  });
}

/** A translation that could not be scored has no reward: the rollout fails and is tried again. */
function failure(segale_error: string) {
  return { segale_error, _ng_failure_class: "judge_failed", _ng_failure_judge_error: segale_error };
}

export default longmtEval(({ scorer_urls, scorer_timeout_seconds }) =>
  serviceScorer(
    scorer_urls.map((url) => url.replace(/\/+$/, "")),
    scorer_timeout_seconds * 1000,
  ),
);
