import { laxBool, laxInt } from "nemo-gym/openai";
import { z } from "zod";

export const formats = ["json", "yaml", "xml", "toml", "csv"] as const;
export type Format = (typeof formats)[number];

const text = z.string().nullish();

/** Fields that describe a task; they are copied to the result, and rewards are broken down by them. */
const descriptions = {
  problem_type: text,
  schema_repr: text,
  source_format: text,
  num_turns: laxInt().nullish(),
  source_record_id: text,
  tool_schema_mode: text,
  tool_choice: text,
  parallel_tool_calls: laxBool().nullish(),
  source_schema_type: text,
  num_tools: laxInt().nullish(),
  num_distractors: laxInt().nullish(),
  has_distractors: laxBool().nullish(),
  instruction_layout: text,
  instruction_detail_level: text,
  system_instruction_style: text,
  tool_name_style: text,
  distractor_style: text,
  tool_union_mode: text,
};

export const Row = z
  .object({
    schema_str: z.string(),
    schema_type: z.enum(formats).default("json"),
    response_mode: z.string().nullable().default("text"),
    tool_name: text,
    tool_payload_key: text,
    ...descriptions,
  })
  // Absent fields become null, so that every result row has the same columns.
  .transform((row) => ({ ...absent, ...definedOf(row) }));
export type Row = z.output<typeof Row>;

const absent = Object.fromEntries(
  ["tool_name", "tool_payload_key", ...Object.keys(descriptions)].map((name) => [name, null]),
) as { [Name in keyof typeof descriptions | "tool_name" | "tool_payload_key"]: null };

function definedOf<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
