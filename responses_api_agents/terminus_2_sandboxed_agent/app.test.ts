import { defineResourcesServer } from "nemo-gym";
import { createTestServer, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

// libraries/terminal tests the loop with real terminals.
it("says which agent fits an environment without a terminal", async () => {
  const environment = await createTestServer(defineResourcesServer({ verify: () => ({ reward: 1 }) }), {
    name: "place",
  });
  const turn = { analysis: "", plan: "", commands: [{ keystrokes: "ls\n", duration: 0.1 }] };
  const agent = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "place" },
      model_server: { type: "responses_api_models", name: "policy" },
    },
    servers: { place: environment.app, policy: () => modelResponse(messageItem(JSON.stringify(turn))) },
  });
  const { status, body } = await agent.post("/run", { responses_create_params: { input: "Look around." } });
  await agent.close();
  await environment.close();
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain("place has no tool 'terminal': use terminus_2_agent.");
});
