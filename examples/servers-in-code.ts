// Servers that a program starts, calls and stops.
import { startServers } from "nemo-gym/run";

const servers = await startServers(
  {
    configPaths: ["resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml"],
    model: { type: "random_model" },
  },
  { head: false },
);
try {
  for (const { process_name, url } of servers.instances) console.log(process_name, url);
  const reply = await servers.client.post("example_single_tool_call_simple_agent", "/v1/responses", {
    input: "What is the weather in Oslo?",
  });
  console.log(reply.status);
} finally {
  await servers.close();
}
