import { z } from "zod";

/** Ways to find the answer in a text that a row may ask for. */
const rowGradingModes = ["strict_single_letter_boxed", "lenient_boxed", "lenient_answer_colon"] as const;
/** The markdown-aware way is for whole servers only. */
const gradingModes = [...rowGradingModes, "lenient_answer_colon_md"] as const;
export type GradingMode = (typeof gradingModes)[number];

/** Row fields of multiple-choice questions. */
export const Row = z.object({
  uuid: z.string().nullish(),
  options: z.array(z.record(z.string(), z.string().nullable())).nullish(),
  expected_answer: z.string().nullish(),
  grading_mode: z.enum(rowGradingModes).default("strict_single_letter_boxed"),
  /** Free for the data's own use; the verifier does not look at it. */
  metadata: z.looseObject({}).nullish(),
  template_metadata: z
    .looseObject({ output_regex: z.union([z.string(), z.array(z.string())]).optional() })
    .nullish(),
});
/** What a rollout cannot do without: `verify` scores a row that has no answer with 0, as the original does. */
export const Task = Row.extend({ expected_answer: z.string().min(1) });
export type Row = z.output<typeof Row>;

/** `null` leaves the mode to each row. */
export const Config = z.object({ grading_mode: z.enum(gradingModes).nullish() });
