import { allAssistantText, defineResourcesServer } from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { z } from "zod";
import { compareAnswers } from "./compare.ts";
import { extractAnswer, extractionModes } from "./extract.ts";

/** Compares free-text answers with an expected text, tolerating differences in notation. */
export default defineResourcesServer({
  row: z.object({
    expected_answer: z.string(),
    extraction_mode: z.enum(extractionModes).default("final_answer"),
    case_sensitive: laxBool().default(false),
    metadata: z.looseObject({}).nullish(),
  }),
  echo: [],
  verify({ row, response }) {
    const extracted = extractAnswer(allAssistantText(response), row.extraction_mode);
    const comparable = extracted !== undefined && row.expected_answer !== "";
    return {
      reward: comparable ? compareAnswers(extracted, row.expected_answer, row.case_sensitive) : 0,
      expected_answer: row.expected_answer,
      extracted_answer: extracted ?? null,
    };
  },
});
