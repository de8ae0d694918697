import { defineResourcesServer } from "nemo-gym";
import { laxInt } from "nemo-gym/openai";
import { z } from "zod";

/** A counter per session: the smallest environment with state. */
export default defineResourcesServer({
  seed: z.object({ initial_count: laxInt() }),
  row: z.object({ expected_count: laxInt() }),
  echo: [],
  session: ({ row }) => ({ count: row.initial_count }),
  reseed: "keep",
  unseeded: () => ({ count: 0 }),
  tools: {
    increment_counter: {
      description: "Add a number to the counter.",
      input: z.object({ count: laxInt() }),
      run({ input, session }) {
        session.count += input.count;
        return { success: true };
      },
    },
    get_counter_value: {
      description: "Read the counter.",
      run: ({ session }) => ({ count: session.count }),
    },
  },
  verify: ({ row, session, seeded }) => ({ reward: seeded && session.count === row.expected_count ? 1 : 0 }),
});
