import { pyStr } from "nemo-gym/python";
import { z } from "zod";

/** Unknown fields are allowed. Only the expected answer is copied to the result. */
export const Row = z.looseObject({
  expected_answer: z.string().nullish(),
  uuid: z.union([z.string(), z.number().int()]).nullish(),
  options: z.array(z.record(z.string(), z.string())).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  /** Any value; only the `output_regex` of an object is read. */
  template_metadata: z.unknown().optional(),
});
export type Row = z.output<typeof Row>;

/** The expected answer as text: from the row itself, else from its metadata. */
export function expectedAnswer(row: Row): string {
  if (row.expected_answer) return row.expected_answer;
  const fromMetadata = row.metadata?.["expected_answer"];
  return fromMetadata === undefined || fromMetadata === null ? "" : pyStr(fromMetadata);
}

/** A row that can be judged. */
export const Task = Row.refine((row) => expectedAnswer(row) !== "", {
  path: ["expected_answer"],
  params: { pydantic: "missing" },
});

/** The row's own pattern for the answer. */
export function rowPattern(row: Row): string | undefined {
  const metadata = row.template_metadata as { output_regex?: unknown } | null | undefined;
  const pattern = metadata?.output_regex;
  return typeof pattern === "string" && pattern !== "" ? pattern : undefined;
}
