import { allAssistantText, defineResourcesServer } from "nemo-gym";
import { laxInt } from "nemo-gym/openai";
import { pyEquals } from "nemo-gym/python";
import { z } from "zod";
import { findGrid } from "./grid.ts";

const grid = z.array(z.array(laxInt()));

/** ARC-AGI puzzles, answered with the grid as a list of lists. */
export default defineResourcesServer({
  row: z.object({
    expected_output: grid,
    train: z.array(z.record(z.string(), grid)).nullish(),
    test_input: grid.nullish(),
    task_id: z.string().nullish(),
  }),
  echo: ["expected_output"],
  reverifyMode: "stateless",
  verify({ row, response }) {
    const predicted = findGrid(allAssistantText(response));
    return {
      reward: predicted !== undefined && pyEquals(predicted, row.expected_output),
      predicted_output: predicted ?? null,
      extraction_successful: predicted !== undefined,
    };
  },
});
