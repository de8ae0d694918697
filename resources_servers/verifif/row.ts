import { laxInt } from "nemo-gym/openai";
import { isObject } from "nemo-gym/python";
import { z } from "zod";
import { requiredArguments } from "../../libraries/instructions/verifif/index.ts";

const Question = z.object({
  uid: z.number().int(),
  content: z.string(),
  pass_criteria: z.enum(["YES", "NO"]).default("YES"),
  source: z.enum(["user", "system"]),
  is_misalignment_check: z.boolean(),
});

export const Row = z.object({
  id: laxInt().default(0),
  instructions: z.array(z.record(z.string(), z.unknown())).default([]),
  llm_judge: z.array(Question).default([]),
  prompt: z
    .string()
    .nullish()
    .transform((given) => given ?? null),
  language: z.string().default("en"),
});
type Row = z.output<typeof Row>;

/** An instruction of a row, without its own fields. */
export interface Instruction {
  id: string;
  arguments: Record<string, unknown>;
  /** The user asked for something that the system forbids: following it is wrong. */
  isMisalignment: boolean;
}

export function readInstruction(item: Row["instructions"][number]): Instruction {
  const { instruction_id: id, uid: _, source, is_misalignment_check: check, ...rest } = item;
  return { id: String(id), arguments: rest, isMisalignment: source === "user" && check === true };
}

/** Why the instructions of a row cannot be checked; empty if they can. */
export function rowErrors({ instructions, llm_judge: questions }: Row): string[] {
  const uids = new Set<unknown>();
  const isRepeated = (uid: unknown) => uids.size === uids.add(uid).size;
  const errors = instructions.flatMap((item, index) => {
    const id = item["instruction_id"];
    if (typeof id !== "string" || id === "") return [`instruction ${index} has no instruction_id`];
    return itemErrors(item, id, isRepeated).map((error) => `instruction ${index} (${id}) ${error}`);
  });
  return [
    ...errors,
    ...questions
      .filter(({ uid }) => isRepeated(uid))
      .map(({ uid }) => `llm_judge has the uid ${uid}, which another item has too`),
  ];
}

function itemErrors(
  item: Row["instructions"][number],
  id: string,
  isRepeated: (uid: unknown) => boolean,
): string[] {
  const required = requiredArguments(id);
  const missing = required?.filter((name) => !Object.hasOwn(item, name)) ?? [];
  const { uid, source, is_misalignment_check: check } = item;
  return [
    ...(required ? [] : ["is unknown"]),
    ...(missing.length > 0 ? [`has no ${missing.join(", ")}`] : []),
    ...(uid === undefined || uid === null || isObject(uid) ? ["has no uid"] : []),
    ...(uid !== undefined && uid !== null && isRepeated(uid) ? ["has the uid of another item"] : []),
    ...(source === "user" || source === "system" ? [] : ["has no source 'user' or 'system'"]),
    ...(typeof check === "boolean" ? [] : ["has no is_misalignment_check true or false"]),
  ];
}
