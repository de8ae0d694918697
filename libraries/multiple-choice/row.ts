import { z } from "zod";

/** Methods to find the answer in a text that a row may request. */
const rowGradingModes = ["strict_single_letter_boxed", "lenient_boxed", "lenient_answer_colon"] as const;
/** The markdown-aware method is only available for whole servers. */
const gradingModes = [...rowGradingModes, "lenient_answer_colon_md"] as const;
export type GradingMode = (typeof gradingModes)[number];

/** Row fields of multiple-choice questions. */
export const Row = z.object({
  uuid: z.string().nullish(),
  options: z.array(z.record(z.string(), z.string().nullable())).nullish(),
  expected_answer: z.string().nullish(),
  grading_mode: z.enum(rowGradingModes).default("strict_single_letter_boxed"),
  /** For free use by the dataset; the verifier ignores it. */
  metadata: z.looseObject({}).nullish(),
  template_metadata: z
    .looseObject({
      output_regex: z.union([z.string(), z.array(z.string())]).optional(),
      /** Words that announce the answer, in the language of the row. */
      answer_prefix: z.string().nullish(),
    })
    .nullish(),
});
/** Required for a rollout. `verify` scores a row without an answer with 0, as the original does. */
export const Task = Row.extend({ expected_answer: z.string().min(1) });
export type Row = z.output<typeof Row>;

/** `null`: each row chooses the mode. */
export const Config = z.object({ grading_mode: z.enum(gradingModes).nullish() });
