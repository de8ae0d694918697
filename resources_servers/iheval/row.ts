import { isObject, JsonTextError, loadsPlain } from "nemo-gym/python";
import { z } from "zod";
import { instructions } from "../../libraries/instructions/ifeval/index.ts";
import { taskNames } from "./score.ts";

export const Row = z.looseObject({
  id: z.unknown().default(null),
  task: z.string().default(""),
  domain: z.string().default(""),
  setting: z.string().default(""),
  /** The request of the user. */
  instruction: z.string().default(""),
  /** The gold answer: a value, or its JSON text. */
  answer: z.unknown().default(null),
  /** Older data has the fields above in here. */
  verifier_metadata: z.looseObject({}).nullish().default(null),
});

/** The fields that score a rollout, wherever the row has them. */
export interface Task {
  id: unknown;
  task: string;
  domain: string;
  setting: string;
  answer: unknown;
}

export function taskOf(row: z.output<typeof Row>): Task {
  const older = row.verifier_metadata ?? {};
  const text = (name: "task" | "domain" | "setting") => row[name] || String(older[name] ?? "");
  return {
    id: row.id ?? older["id"] ?? "",
    task: text("task"),
    domain: text("domain"),
    setting: text("setting"),
    answer: decode(row.answer ?? older["answer"] ?? null),
  };
}

/** A text that is no JSON is the answer itself. */
function decode(answer: unknown): unknown {
  if (typeof answer !== "string") return answer;
  try {
    return loadsPlain(answer, { allowNonFinite: true });
  } catch (error) {
    if (error instanceof JsonTextError) return answer;
    throw error;
  }
}

/** A row that a run can use: a known task, with an answer, and with instructions that can be checked. */
export const SeedRow = Row.superRefine((row, context) => {
  const { task, answer } = taskOf(row);
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: "custom", path: [field], message });
  if (task === "") refuse("task", "Field required");
  else if (!taskNames.includes(task)) refuse("task", `'${task}' is none of ${taskNames.join(", ")}`);
  if (answer === null) refuse("answer", "Field required");
  const ids = isObject(answer) ? answer["instruction_id_list"] : undefined;
  for (const id of Array.isArray(ids) ? ids : []) {
    if (!Object.hasOwn(instructions, String(id))) refuse("answer", `'${id}' is not a known instruction`);
  }
});
