import { laxInt } from "nemo-gym/openai";
import { compilePyRegex, RegexSyntaxError } from "nemo-gym/python";
import { z } from "zod";
import { grammars } from "./grammars.ts";

const IdPattern = z.string().superRefine((pattern, context) => {
  try {
    compilePyRegex(pattern);
  } catch (error) {
    if (!(error instanceof RegexSyntaxError)) throw error;
    context.addIssue({ code: "custom", message: `'${pattern}' is not a valid pattern: ${error.message}` });
  }
});

// The result repeats the verifier as it is in the row, so that defaults are applied where it is read.
const Verifier = z.looseObject({
  /** How citations are written; a name that is not in the table earns 0. */
  grammar: z.string().optional(),
  id_kind: z.string().optional(),
  id_regex: IdPattern.nullish(),
  /** The sources that the conversation contains. */
  valid_id_set: z.array(z.string()).nullish(),
  /** The sources that hold the answer; null if they are not known. */
  expected_ids: z.array(z.string()).nullish(),
  /** How many more sources than the expected ones may be cited. */
  expected_slack: laxInt().optional(),
  min_valid_citations: laxInt().optional(),
  mode: z.string().optional(),
});

export type Verifier = z.output<typeof Verifier>;

export const Row = z.object({ verifier: Verifier });

/** A row that a run can use names a known notation and the sources. */
export const SeedRow = z.looseObject({
  verifier: Verifier.extend({
    grammar: z.enum(Object.keys(grammars)),
    mode: z.enum(["cite", "no_cite"]).optional(),
    valid_id_set: z.array(z.string()).min(1),
  }),
});
