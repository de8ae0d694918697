import { defineResourcesServer } from "nemo-gym";
import { functionCalls } from "nemo-gym/openai";
import { z } from "zod";
import { countMatches, predictedCall } from "./match-calls.ts";

/** Single-turn function calling: the model must make exactly the expected calls. */
export default defineResourcesServer({
  row: z.object({ expected_answers: z.array(z.looseObject({})).default([]) }),
  // Without this field every answer without a call would be correct.
  seed: z.looseObject({ expected_answers: z.array(z.looseObject({})) }),
  echo: [],
  reverifyMode: "stateless",
  verify: ({ row, response }) => {
    const predicted = functionCalls(response).map(predictedCall);
    const expectedCount = row.expected_answers.length;
    const matches = countMatches(row.expected_answers, predicted);
    return {
      reward: matches === expectedCount && predicted.length === expectedCount ? 1 : 0,
      num_expected: expectedCount,
      num_predicted: predicted.length,
      num_correct: matches,
      predicted_calls: predicted,
    };
  },
});
