import type { AddressInfo } from "node:net";
import { createTestServer } from "nemo-gym/testing";
import { expect, it } from "vitest";
import weather from "../../resources_servers/example_single_tool_call/app.ts";
import remoteAgent from "../../responses_api_agents/remote_agent/app.ts";
import { service } from "./service.ts";

it("lets the gym run its tool call, and answers with the result", async () => {
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", () => resolve()));
  const environment = await createTestServer(weather, { name: "weather" });
  const agent = await createTestServer(remoteAgent, {
    config: {
      agent_base_url: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
      resources_server: { type: "resources_servers", name: "weather" },
    },
    servers: { weather: environment.app },
  });
  const { body } = await agent.post("/run", { responses_create_params: { input: "Cold in Oslo?" } });
  await agent.close();
  service.close();
  expect(body.error).toBeUndefined();
  expect(body.response.output.map(({ type }: { type: string }) => type)).toEqual([
    "function_call",
    "function_call_output",
    "message",
  ]);
  expect(body.response.output[2].content[0].text).toContain("The weather in Oslo is cold.");
});
