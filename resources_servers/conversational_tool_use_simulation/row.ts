import { z } from "zod";

const text = z.string().nullish();

export const Tool = z.looseObject({
  name: z.string(),
  doc: text,
  description: text,
  params: z.unknown().optional(),
  parameters: z.unknown().optional(),
  returns: z.unknown().optional(),
});
export type Tool = z.output<typeof Tool>;

export const Scenario = z.looseObject({
  customer_persona: text,
  reason_for_contact: text,
  customer_details: text,
  unknown_info: text,
  task_instructions: text,
  representative_domain: text,
  outside_policy_scope: z.boolean().nullish(),
});

/** What a conversation needs to begin. */
export const Seed = z.looseObject({
  policy: z.string(),
  tools: z.array(Tool),
  customer_scenario: Scenario,
  domain_name: text,
  profile: z.enum(["general", "proactive"]).nullish(),
  initial_user_message: text,
});
export type Seed = z.output<typeof Seed>;

/** The schema of a tool's arguments; undefined if it accepts anything. */
export const schemaOf = ({ params, parameters }: Tool): unknown => params ?? parameters ?? undefined;

/** The tools as models are offered them. */
export const functionTools = (tools: readonly Tool[]) =>
  tools.map((tool) => ({
    type: "function",
    name: tool.name,
    description: tool.doc ?? tool.description ?? "",
    parameters: schemaOf(tool) ?? { type: "object", properties: {} },
    strict: true,
  }));
