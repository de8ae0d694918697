import { z } from "zod";

/** A reference to another server of the run, as configs write it: `{ type, name }`, or just the name. */
export const ServerReference = z.union([
  z.string(),
  z.looseObject({ name: z.string() }).transform(({ name }) => name),
]);

/**
 * The config keys every environment with a judge has; spread them into its own `config` schema. The first three are
 * the original's, the others are off unless set.
 *
 * @example
 * const config = z.object({ ...judgeConfig, judge_equal_label: z.string().default("[[A=B]]") });
 */
export const judgeConfig = {
  judge_model_server: ServerReference,
  /** Base of every request; the messages are put into it. */
  judge_responses_create_params: z.record(z.string(), z.unknown()).nullish(),
  /** Calls in flight at a time; null: no limit. */
  judge_endpoint_max_concurrency: z.number().int().positive().nullable().default(64),
  /** Seconds for one call including retries; null: the client's own limits only. */
  judge_timeout_seconds: z.number().positive().nullish(),
  /** How many answers are kept by content; only sensible for a deterministic judge. */
  judge_cache_entries: z.number().int().nonnegative().default(0),
  /** Longer values are cut in the middle before they go into a prompt; null: never. */
  judge_max_value_chars: z.number().int().positive().nullish(),
};

const JudgeConfig = z.object(judgeConfig);
export type JudgeConfig = z.output<typeof JudgeConfig>;
