import { laxInt } from "nemo-gym/openai";
import { z } from "zod";

const Rubric = z.array(
  z.looseObject({
    question: z.string().optional(),
    /** The answer that passes: YES or NO. */
    pass_criteria: z.string().optional(),
    weight: z.number().optional(),
  }),
);

const Messages = z.array(z.looseObject({ role: z.string().optional(), content: z.string().optional() }));

export const Row = z.looseObject({
  uuid: z.union([z.string(), z.number().int()]).nullable().default(null),
  task_id: laxInt()
    .nullish()
    .transform((id) => id ?? null),
  rubric: Rubric.nullable().default(null),
  context: z.string().nullable().default(null),
  metadata: z
    .looseObject({ messages: Messages.nullish(), rubric: Rubric.nullish() })
    .nullable()
    .default(null),
});
type Row = z.output<typeof Row>;

/** A row that can earn a reward. */
export const Task = Row.refine((row) => rubricOf(row).some(({ question }) => question), {
  path: ["rubric"],
  error: "at least one item with a question is required, here or in metadata.rubric",
});

export function rubricOf({ rubric, metadata }: Row): z.output<typeof Rubric> {
  return (rubric?.length ? rubric : metadata?.rubric) ?? [];
}

/** The conversation before the reply as text. */
export function contextOf({ context, metadata }: Row): string {
  if (context) return context;
  return (metadata?.messages ?? [])
    .filter(({ role }) => role !== "thinking")
    .map(({ role = "unknown", content = "" }) => `[${role.toUpperCase()}]: ${content}`)
    .join("\n\n");
}
