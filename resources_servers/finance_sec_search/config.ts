import { judgeConfig } from "nemo-gym";
import { laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import { z } from "zod";

const positive = (schema: z.ZodType<number>) => schema.pipe(z.number().positive());

export const Config = z.object({
  ...judgeConfig,
  judge_model_server: judgeConfig.judge_model_server.nullish(),
  /** `{question}`, `{expected_answer}` and `{generated_answer}` are replaced in this order. */
  judge_prompt_template: z.string().nullish(),
  judge_prompt_template_fpath: z.string().default("prompts/judge.txt"),
  /** Seconds for one call of the judge. */
  judge_call_timeout: positive(laxFloat()).default(60),
  /** Factor of the waits of 1 and 2 seconds before the judge is asked again. */
  judge_retry_delay_factor: z.number().nonnegative().default(1),
  /** As in the original: the first rating of a reply counts. Default: a reply with different ratings has none. */
  first_verdict_counts: laxBool().default(false),
  /** `binary`: only the rating 2 earns 1. `scaled`: 0, 0.5 and 1. */
  reward_mode: z.enum(["binary", "scaled"]).default("binary"),
  /** Answers questions about stored pages. */
  retrieval_model_server: judgeConfig.judge_model_server.nullish(),
  retrieval_system_prompt: z
    .string()
    .default("Answer from the given documents only. Quote figures with their units and periods."),
  retrieval_max_output_tokens: laxInt().nullish(),
  tavily_api_key: z.union([z.string(), z.array(z.string()).min(1)]).nullish(),
  tavily_base_url: z.url().default("https://api.tavily.com"),
  /** SEC asks for a name and an address in it. */
  user_agent: z.string().default("nemo-gym research"),
  requests_per_second: positive(laxFloat()).default(10),
  max_retries: laxInt().pipe(z.number().min(1)).default(3),
  /** Seconds for one request. */
  request_timeout: positive(laxFloat()).default(30),
  use_cache: laxBool().default(false),
  cache_dir: z.string().nullish(),
  /** Folder with a copy of `https://www.sec.gov/Archives/…`. */
  sec_dump_path: z.string().nullish(),
  max_filing_results: laxInt().pipe(z.number().min(1)).default(200),
  max_rollout_time_seconds: laxFloat().nullish(),
  /** Filings after this day (YYYY-MM-DD) are not shown. */
  max_end_date: z.string().nullish(),
  /** Whether pages may be fetched from addresses of private networks. */
  allow_private_addresses: laxBool().default(false),
});
export type Config = z.output<typeof Config>;
