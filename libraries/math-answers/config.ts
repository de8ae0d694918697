import { judgeConfig } from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { z } from "zod";

/** The config keys of servers that compare answers first and ask a judge about the rest. */
export const mathConfig = {
  ...judgeConfig,
  /** Whether a judge decides about answers that do not compare as equal. */
  should_use_judge: laxBool().default(true),
  /** Seconds for the comparison of one answer; a longer one counts as not equal. */
  library_verifier_timeout_seconds: z.number().positive().default(10),
  /** Comparisons in threads at a time; easy ones need no thread. */
  library_verifier_max_concurrency: z.number().int().positive().default(32),
  /** `compat` decides as math-verify 0.8 does, `strict` as mathematics does. */
  answer_comparison: z.enum(["compat", "strict"]).default("compat"),
};

const MathConfig = z.object(mathConfig);
export type MathConfig = z.output<typeof MathConfig>;

/** The row fields all of these servers have. */
export const mathRow = { question: z.string(), expected_answer: z.string() };
