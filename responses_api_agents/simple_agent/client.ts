/**
 * Asks a running agent one question and then has a row scored, as a trainer would.
 * Start the servers first: gym env start --resources-server example_single_tool_call --model-type random_model
 * Then: node --import jiti/register responses_api_agents/simple_agent/client.ts
 */
import { connectToRun } from "nemo-gym";

const agent = process.argv[2] ?? "example_single_tool_call_simple_agent";
const { client, close } = await connectToRun({ headUrl: "http://127.0.0.1:11000" });
const tools = [
  {
    type: "function",
    name: "get_weather",
    description: "Tell the weather in a city.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
    strict: true,
  },
];
const params = { input: [{ role: "user", content: "What is the weather in Oslo?" }], tools };

const answer = await client.post(agent, "/v1/responses", params);
console.log(JSON.stringify((answer.json() as { output: unknown }).output, null, 2));

const scored = await client.post(agent, "/run", { responses_create_params: params });
console.log("reward:", (scored.json() as { reward: number }).reward);
await close();
