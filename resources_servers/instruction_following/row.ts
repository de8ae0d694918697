import { laxInt } from "nemo-gym/openai";
import { z } from "zod";

const Kwargs = z.record(z.string(), z.unknown()).nullable();

const VerifierMetadata = z.looseObject({
  instruction_id_list: z.array(z.string()),
  prompt: z.string(),
  /** One object per instruction; null for an instruction without arguments. */
  kwargs: z.array(Kwargs),
  grading_mode: z.enum(["binary", "fraction"]).optional(),
});

const MOVED = ["instruction_id_list", "prompt", "kwargs", "grading_mode"] as const;

/** Older datasets have the fields of `verifier_metadata` in the row itself. */
function moveIntoMetadata(row: unknown): unknown {
  if (typeof row !== "object" || row === null) return row;
  const fields = row as Record<string, unknown>;
  const given = fields["verifier_metadata"];
  if (given !== undefined && given !== null && (typeof given !== "object" || Array.isArray(given)))
    return row;
  const metadata: Record<string, unknown> = { ...given };
  for (const name of MOVED) {
    if (metadata[name] === undefined && fields[name] !== undefined) metadata[name] = fields[name];
  }
  return { ...fields, verifier_metadata: metadata };
}

export const Row = z.preprocess(
  moveIntoMetadata,
  z.object({ id: laxInt(), verifier_metadata: VerifierMetadata }),
);
