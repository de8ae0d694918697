import { judgeConfig } from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { z } from "zod";

/** The config keys of servers that compare answers first and ask a judge about the others. */
export const mathConfig = {
  ...judgeConfig,
  /** Whether a judge decides about answers that are not equal by comparison. */
  should_use_judge: laxBool().default(true),
  /** Time limit of a comparison, in seconds; an answer that takes longer counts as not equal. */
  library_verifier_timeout_seconds: z.number().positive().default(10),
  /** Maximum number of concurrent comparisons in threads; easy comparisons need no thread. */
  library_verifier_max_concurrency: z.number().int().positive().default(32),
  /** `compat` decides like math-verify 0.8, `strict` by mathematical equality. */
  answer_comparison: z.enum(["compat", "strict"]).default("compat"),
};

const MathConfig = z.object(mathConfig);
export type MathConfig = z.output<typeof MathConfig>;

/** Datasets such as GSM8K have numbers as answers. */
const answerText = z.preprocess((value) => (typeof value === "number" ? String(value) : value), z.string());

/** The row fields of all these servers. */
export const mathRow = { question: z.string(), expected_answer: answerText };
