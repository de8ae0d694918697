// Serves an agent and talks to it with the official client. Run it with: node --import jiti/register examples/chat-with-an-agent.ts
import { startServers } from "nemo-gym/run";
import OpenAI from "openai";

const tools: OpenAI.Responses.Tool[] = [
  {
    type: "function",
    name: "get_weather",
    description: "Tell the weather in a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    strict: false,
  },
];
const { MODEL_URL: url, MODEL_NAME: name, MODEL_API_KEY: apiKey = "none" } = process.env;
const servers = await startServers(
  {
    configPaths: ["resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml"],
    model: url ? { type: "openai_model", url, name, apiKey } : { type: "random_model" },
  },
  { head: false },
);
try {
  const agent = "example_single_tool_call_simple_agent";
  const client = new OpenAI({ baseURL: `${servers.client.baseUrl(agent)}/v1`, apiKey: "none" });
  const conversation: OpenAI.Responses.ResponseInput = [];
  for (const question of ["What is the weather in Oslo?", "And in Bergen?"]) {
    console.log(`> ${question}`);
    conversation.push({ role: "user", content: question });
    const stream = client.responses.stream({ model: "agent", input: conversation, tools });
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") process.stdout.write(event.delta);
      if (event.type === "response.function_call_arguments.done") console.log(`[calls ${event.arguments}]`);
    }
    console.log();
    const { output, usage } = await stream.finalResponse();
    console.log(`(${output.length} items, ${usage?.total_tokens ?? "?"} tokens)`);
    conversation.push(...(output as OpenAI.Responses.ResponseInput));
  }
} finally {
  await servers.close();
}
