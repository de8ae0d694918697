import { defineResourcesServer } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { lstrip, strip } from "nemo-gym/python";
import { z } from "zod";
import { chrf, chrfCounts } from "../../libraries/text-measures/chrf.ts";
import { translationMetrics } from "./metrics.ts";

const optionalText = z
  .string()
  .nullish()
  .transform((text) => text ?? null);

/** Translations, scored by their character n-grams (chrF). */
export default defineResourcesServer({
  config: z.object({
    strip_reasoning: laxBool().default(true),
    compute_comet: laxBool()
      .default(false)
      .refine((enabled) => !enabled, { error: "COMET is not available here: set it to false" }),
    language_consistency_backend: z
      .null({ error: "no language detector is available here: set it to null" })
      .default(null),
  }),
  row: z.object({
    text: z.string(),
    translation: z.string(),
    source_language: z.string(),
    target_language: z.string(),
    source_lang_name: optionalText,
    target_lang_name: optionalText,
  }),
  reverifyMode: "stateless",
  // Long texts have millions of n-grams.
  verifyIn: "pool",
  metrics: translationMetrics,
  verify({ config, row, response }) {
    const text = outputText(response);
    const generation = strip(config.strip_reasoning ? withoutReasoning(text) : text);
    const sentence_chrf =
      generation === "" ? 0 : chrf(chrfCounts(generation.normalize("NFC"), row.translation.normalize("NFC")));
    return {
      reward: sentence_chrf / 100,
      generation,
      sentence_chrf,
      comet_score: null,
      language_consistency_score: null,
    };
  },
});

/** The text after the last `</think>`. A text whose reasoning never ends has no translation. */
function withoutReasoning(text: string): string {
  const end = text.lastIndexOf("</think>");
  if (end >= 0) return lstrip(text.slice(end + "</think>".length), "\n");
  return text.includes("<think>") ? "" : text;
}
