import { compilePrompt, errorMessage } from "nemo-gym";
import { laxInt } from "nemo-gym/openai";
import { z } from "zod";

export const promptFields = ["prompt", "model_response", "standard_response", "criteria"];

const Rubric = z.array(z.looseObject({ id: z.string().optional(), criteria: z.string().optional() }));
const text = z.string().nullable().default(null);

const Template = text.superRefine((template, context) => {
  try {
    if (template) compilePrompt(template, { fields: promptFields });
  } catch (error) {
    context.addIssue({ code: "custom", message: errorMessage(error) });
  }
});

export const Row = z.looseObject({
  uuid: z.union([z.string(), z.number().int()]).nullable().default(null),
  task_id: laxInt()
    .nullish()
    .transform((id) => id ?? null),
  prompt: text,
  rubric: Rubric.nullable().default(null),
  reference_response: text,
  /** Used instead of those of the config. */
  judge_prompt_template: Template,
  judge_system_prompt: text,
  metadata: z
    .looseObject({
      prompt: z.string().nullish(),
      reference_response: z.string().nullish(),
      rubric: Rubric.nullish(),
    })
    .nullable()
    .default(null),
});
type Row = z.output<typeof Row>;

/** A row that can earn a reward. */
export const Task = Row.refine((row) => rubricOf(row).some(({ criteria }) => criteria), {
  path: ["rubric"],
  error: "at least one item with criteria is required, here or in metadata.rubric",
});

export function rubricOf({ rubric, metadata }: Row): z.output<typeof Rubric> {
  return (rubric?.length ? rubric : metadata?.rubric) ?? [];
}
