import { defineResourcesServer } from "nemo-gym";
import { z } from "zod";

/** One tool and no state: the smallest possible environment. The reward is 1 if the model calls the tool. */
export default defineResourcesServer({
  reverifyMode: "stateless",
  boundSessions: true,
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
  verify: ({ response }) => ({
    reward: Number(
      response.output.some((item) => item.type === "function_call" && item.name === "get_weather"),
    ),
  }),
});
