import { createTestServer, functionCallItem } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

it("verifies the call the model makes instead of running it", async () => {
  const paths: string[] = [];
  const output = [functionCallItem("get_weather", { city: "Lima" })];
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "tools" },
      model_server: { type: "responses_api_models", name: "model" },
    },
    servers: {
      model: () => ({
        id: "r",
        created_at: 1,
        model: "m",
        object: "response",
        output,
        parallel_tool_calls: true,
        tool_choice: "auto",
        tools: [],
      }),
      tools: (path, body) => {
        paths.push(path);
        return path === "/verify" ? { ...(body as object), reward: 1 } : {};
      },
    },
  });
  const { body } = await server.post("/run", { responses_create_params: { input: "Weather?" } });
  expect(paths).toEqual(["/seed_session", "/verify"]);
  expect(body.reward).toBe(1);
  expect(body.response.output[0].name).toBe("get_weather");
  await server.close();
});
