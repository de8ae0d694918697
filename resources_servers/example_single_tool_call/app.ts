import { defineResourcesServer } from "nemo-gym";
import { z } from "zod";

/** One tool, no state, and a reward of 1 for every rollout: the smallest possible environment. */
export default defineResourcesServer({
  reverifyMode: "stateless",
  tools: {
    get_weather: {
      description: "Tell the weather in a city.",
      input: z.object({ city: z.string() }),
      run: ({ input }) => ({
        city: input.city,
        weather_description: `The weather in ${input.city} is cold.`,
      }),
    },
  },
  verify: () => ({ reward: 1 }),
});
