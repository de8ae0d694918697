import { defineResourcesServer } from "nemo-gym";
import { lastItemText, laxInt } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { ifbenchInstructions } from "../../libraries/instructions/ifbench/index.ts";
import { followsIn, lenientForms } from "../../libraries/instructions/registry.ts";

const InstructionId = z
  .string()
  .refine(
    (id) => id !== "words:start_verb",
    "words:start_verb needs a tagger of parts of speech, which is not included",
  );

const Row = z.object({
  id: laxInt(),
  instruction_id_list: z.array(InstructionId),
  prompt: z.string(),
  /** One object per instruction; null for an instruction without arguments. */
  kwargs: z.array(z.record(z.string(), z.unknown()).nullable()),
  grading_mode: z.enum(["binary", "fraction"]).default("fraction"),
});

/** Requests with the constraints of IFBench. */
export default defineResourcesServer({
  row: Row,
  seed: Row.extend({ instruction_id_list: z.array(InstructionId).min(1) }),
  echo: ["instruction_id_list", "prompt", "kwargs", "grading_mode"],
  reverifyMode: "stateless",
  // Sentences and tokens of long answers would block the event loop for too long.
  verifyIn: "pool",
  verify({ row: { instruction_id_list: ids, kwargs, grading_mode }, response }) {
    const answer = lastItemText(response);
    const forms = lenientForms(answer).filter((form) => strip(form) !== "");
    const checked = strip(answer) === "" ? ids : ids.slice(0, kwargs.length);
    const strict = checked.map(
      (id, index) => forms.length > 0 && followsIn(ifbenchInstructions, id, kwargs[index] ?? null, answer),
    );
    const loose = checked.map(
      (id, index) =>
        strict[index] ||
        forms.some((form) => followsIn(ifbenchInstructions, id, kwargs[index] ?? null, form)),
    );
    return {
      reward: rewardOf(strict, grading_mode),
      follow_all_instructions: strict.every(Boolean),
      follow_instruction_list: strict,
      reward_loose: rewardOf(loose, grading_mode),
      follow_all_instructions_loose: loose.every(Boolean),
      follow_instruction_list_loose: loose,
    };
  },
});

function rewardOf(followed: readonly boolean[], mode: "binary" | "fraction"): number {
  if (mode === "binary") return Number(followed.every(Boolean));
  return followed.length === 0 ? 0 : followed.filter(Boolean).length / followed.length;
}
