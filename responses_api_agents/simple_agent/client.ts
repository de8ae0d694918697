/**
 * Asks a running agent one question and then runs and scores a row, as a trainer would.
 * Start the servers first: gym env start --resources-server example_single_tool_call --model-type random_model
 * Then: node --import jiti/register responses_api_agents/simple_agent/client.ts [AGENT] [QUESTION] [++head_server.port=N]
 * Without an agent it asks the first running one. The head server is that of env.yaml, or of NEMO_GYM_HEAD_URL.
 */
import { errorMessage } from "nemo-gym";
import { resolveConfig } from "nemo-gym/config";
import { connectToRun } from "nemo-gym/run";

const words = process.argv.slice(2);
const overrides = words.filter((word) => word.startsWith("+"));
const [wanted, question = "What is the weather in Oslo?"] = words.filter((word) => !word.startsWith("+"));
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
  const config = await resolveConfig({ overrides, noModel: true, offline: true });
  const { host = "127.0.0.1", port = 11000 } = (config.get("head_server") ?? {}) as {
    host?: string;
    port?: number;
  };
  const headUrl = process.env["NEMO_GYM_HEAD_URL"] ?? `http://${host}:${port}`;
  const { client, agents, close } = await connectToRun({ headUrl });
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
