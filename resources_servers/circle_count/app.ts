import { defineResourcesServer } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { pyEquals, toPyInt } from "nemo-gym/python";
import { z } from "zod";

const BOXED_COUNT = /\\boxed\{(\p{Nd}+)\}/u;

/** Count the circles of a colour in a picture. */
export default defineResourcesServer({
  seed: z.looseObject({
    circles: z.array(z.looseObject({ color: z.string() })),
    target_color: z.string().min(1),
  }),
  row: z.object({
    circles: z.array(z.looseObject({ color: z.json() })).default([]),
    target_color: z.string().default(""),
  }),
  echo: [],
  reverifyMode: "stateless",
  verify({ row, response }) {
    const digits = BOXED_COUNT.exec(outputText(response))?.[1];
    const predicted = toPyInt(digits);
    const expected = row.circles.filter(({ color }) => pyEquals(color, row.target_color)).length;
    const correct = predicted === expected;
    return { reward: correct, predicted_count: predicted ?? null, expected_count: expected, correct };
  },
});
