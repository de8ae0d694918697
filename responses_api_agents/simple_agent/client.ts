/**
 * Asks a running agent one question and then runs and scores a row, as a trainer would.
 * Start the servers first: gym env start --resources-server example_single_tool_call --model-type random_model
 * Then: node --import jiti/register responses_api_agents/simple_agent/client.ts [AGENT] [QUESTION]
 * Without an agent it asks the first running one. NEMO_GYM_HEAD_URL sets another head server than http://127.0.0.1:11000.
 */
import { errorMessage } from "nemo-gym";
import { connectToRun } from "nemo-gym/run";

const [, , wanted, question = "What is the weather in Oslo?"] = process.argv;
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
const params = { input: [{ role: "user", content: question }], tools };

try {
  const { client, agents, close } = await connectToRun({ headUrl: process.env["NEMO_GYM_HEAD_URL"] });
  const agent = wanted ?? agents[0];
  if (agent === undefined) throw new Error("No agent is running: the started config has none.");
  const answer = await client.post(agent, "/v1/responses", params);
  console.log(JSON.stringify((answer.json() as { output: unknown }).output, null, 2));
  const scored = await client.post(agent, "/run", { responses_create_params: params });
  if (scored.ok) console.log("reward:", (scored.json() as { reward: number }).reward);
  else console.log(`${agent} does not score a row without its own fields (status ${scored.status}).`);
  await close();
} catch (error) {
  console.error(`Error: ${errorMessage(error)}`);
  process.exitCode = 1;
}
