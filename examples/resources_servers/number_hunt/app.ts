import { defineGymnasiumServer, toolOutput } from "nemo-gym";
import { functionCalls } from "nemo-gym/openai";
import { z } from "zod";

/** Higher or lower: the model calls `guess` until it has found the number of the row. */
export default defineGymnasiumServer({
  row: z.looseObject({ number: z.number().int(), guesses: z.number().int().default(7) }),
  reset: ({ row }) => ({
    session: { left: row.guesses },
    observation: `I am thinking of a number. You have ${row.guesses} guesses.`,
  }),
  step({ row, session, response }) {
    const [call] = functionCalls(response);
    if (!call) return { observation: "Call guess.", truncated: --session.left <= 0 };
    const guess = Guess.safeParse(call.arguments);
    const found = guess.success && guess.data.value === row.number;
    const hint = !guess.success ? "no number" : guess.data.value < row.number ? "higher" : "lower";
    return {
      reward: found ? 1 : 0,
      terminated: found,
      truncated: !found && --session.left <= 0,
      info: { tool_outputs: [toolOutput(call, { answer: found ? "found" : hint, left: session.left })] },
    };
  },
});

const Guess = z.preprocess(readJson, z.object({ value: z.number() }));

function readJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
