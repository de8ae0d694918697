import { defineModel, HttpError, sleep } from "nemo-gym";
import { laxFloat, laxInt, seededRandom } from "nemo-gym/openai";
import { z } from "zod";
import { sampleResponse } from "./sample-response.ts";

const rate = (fallback: number) => laxFloat().pipe(z.number().min(0).max(1)).default(fallback);

/**
 * A model without intelligence: samples tool calls that match their schemas, and answers. The same request in the same rollout
 * always gets the same response, so a run can be repeated, interrupted and resumed.
 */
export default defineModel({
  name: "RandomModel",
  config: z.looseObject({
    model: z.string().default("random_model"),
    seed: laxInt().default(0),
    /** Probability that a turn calls a tool, if there are tools. */
    tool_call_rate: rate(0.6),
    /** Probability that a call is invalid: unknown tool, no JSON, arguments that do not match. */
    invalid_call_rate: rate(0),
    /** Probability that the provider fails with 500. */
    failure_rate: rate(0),
    /** Maximum number of turns with tool calls before the answer. */
    max_tool_turns: laxInt().default(4),
    latency_ms: laxFloat().default(0),
    /** Maximum random addition to the latency. */
    latency_jitter_ms: laxFloat().default(0),
  }),
  async responses({ params, config, rolloutId, signal }) {
    const random = seededRandom(
      config.seed,
      rolloutId ?? "",
      JSON.stringify(params.input),
      extraBody(params.metadata),
    );
    const latency = config.latency_ms + random() * config.latency_jitter_ms;
    if (latency > 0) await sleep(latency, signal);
    if (random() < config.failure_rate) {
      const message = "500 from random_model: a failure was drawn (failure_rate)";
      throw new HttpError(500, message, {
        failure: { class: "provider_error", stage: "model", retryable: true, message },
      });
    }
    return sampleResponse(params, config, random);
  },
});

const extraBody = (metadata: Record<string, string> | null | undefined): string =>
  metadata?.["extra_body"] ?? "";
