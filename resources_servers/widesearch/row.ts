import { z } from "zod";

export const METRICS = ["exact_match", "url_match", "number_near", "date_near", "llm_judge"] as const;
export type Metric = (typeof METRICS)[number];
export const STEPS = ["norm_str", "extract_number", "norm_date"] as const;
export type Step = (typeof STEPS)[number];

const Pipeline = z.record(
  z.string(),
  z.looseObject({
    preprocess: z.array(z.enum(STEPS)).nullish(),
    metric: z.array(z.enum(METRICS)).nullish(),
    criterion: z.unknown().optional(),
  }),
);
export type Pipeline = z.output<typeof Pipeline>;

export const Evaluation = z
  .looseObject({
    required: z.array(z.string()),
    unique_columns: z.array(z.string()),
    eval_pipeline: Pipeline,
  })
  .refine(({ required, eval_pipeline }) => required.every((name) => Object.hasOwn(eval_pipeline, name)), {
    error: "must have an entry for every required column",
    path: ["eval_pipeline"],
  })
  .refine(({ required, unique_columns }) => unique_columns.every((name) => required.includes(name)), {
    error: "must be required columns",
    path: ["unique_columns"],
  });

export const Row = z.looseObject({
  instance_id: z.string(),
  query: z.string(),
  evaluation: Evaluation,
  gold_answer: z.array(z.record(z.string(), z.unknown())),
  language: z.string(),
});
