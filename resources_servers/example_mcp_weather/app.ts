import { allAssistantText, defineResourcesServer } from "nemo-gym";
import { caseFold } from "nemo-gym/python";
import { z } from "zod";

const weatherIn = (city: string) => `The weather in ${city} is sunny and 72 F.`;

/** A tool that is also offered over MCP, so that agents that only support MCP can call it in the session of their rollout. */
export default defineResourcesServer({
  config: z.object({ expose_tools_over_mcp: z.boolean().default(false) }),
  row: z.looseObject({
    verifier_metadata: z.looseObject({ expected_city: z.unknown().optional() }).nullish(),
  }),
  session: () => ({ cities: [] as string[] }),
  unseeded: () => ({ cities: [] as string[] }),
  tools: {
    get_weather: {
      description: "Tell the weather in a city.",
      input: z.object({ city: z.string() }),
      run({ input, session }) {
        session.cities.push(input.city);
        return { weather: weatherIn(input.city) };
      },
    },
  },
  verify({ row, response, session }) {
    const { expected_city: city = "Paris" } = row.verifier_metadata ?? {};
    if (typeof city !== "string") {
      return {
        reward: 0,
        expected_weather: null,
        tool_call_seen: false,
        final_response_mentions_weather: false,
      };
    }
    const wanted = caseFold(city);
    const seen = session.cities.some((asked) => caseFold(asked) === wanted);
    const mentioned = caseFold(allAssistantText(response)).includes(caseFold(weatherIn(city)));
    return {
      reward: seen && mentioned ? 1 : 0,
      expected_weather: weatherIn(city),
      tool_call_seen: seen,
      final_response_mentions_weather: mentioned,
    };
  },
});
