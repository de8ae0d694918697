import { compilePyRegex, RegexSyntaxError } from "nemo-gym/python";
import { z } from "zod";

/** A list of strings; a bare string is read as the list of its characters. */
const strings = z.union([z.array(z.string()), z.string()]);
const patterns = strings.superRefine((value, context) => {
  for (const pattern of value) {
    try {
      compilePyRegex(pattern);
    } catch (error) {
      if (!(error instanceof RegexSyntaxError)) throw error;
      context.addIssue({ code: "custom", message: `'${pattern}' is not a valid pattern: ${error.message}` });
    }
  }
});

const byLines = { verify_regex: patterns.optional(), verify_min_matches: z.number().optional() };
const LinesVerifier = z.looseObject({ type: z.enum(["regex", "inline_prose"]), ...byLines });
const MarkersVerifier = z.looseObject({
  type: z.literal("string_match"),
  expected_markers: strings.optional(),
  patterns: patterns.optional(),
});

/** Format requirements; keys that the chosen type does not define are allowed. */
export const Verifier = z.discriminatedUnion("type", [LinesVerifier, MarkersVerifier]);
export type LinesVerifier = z.output<typeof LinesVerifier>;
export type MarkersVerifier = z.output<typeof MarkersVerifier>;

export const Row = z.object({ verifier: Verifier });
