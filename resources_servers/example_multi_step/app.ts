import { defineResourcesServer } from "nemo-gym";
import { laxInt } from "nemo-gym/openai";
import { z } from "zod";
import { scoreExtraction } from "./score.ts";

/** Look up a value for each synonym, then submit the values in order. */
export default defineResourcesServer({
  row: z.object({
    id: laxInt(),
    expected_synonym_values: z.array(laxInt()),
    expected_synonyms: z.array(z.string()),
    minefield_label: z.string(),
    minefield_label_value: laxInt(),
  }),
  reverifyMode: "stateless",
  tools: {
    get_synonym_value: {
      description: "Get the value of a synonym.",
      input: z.object({ synonym: z.string() }),
      run: ({ input }) => ({ synonym_value: sumOfCodePoints(input.synonym) }),
    },
    extract_synonym_values: {
      description: "Submit the synonym values, in order.",
      input: z.object({ synonym_values: z.array(laxInt()) }),
      run: () => ({ success: true }),
    },
  },
  verify: ({ row, response }) => scoreExtraction(row, response),
});

function sumOfCodePoints(text: string): number {
  let sum = 0;
  for (const character of text) sum += character.codePointAt(0) ?? 0;
  return sum;
}
