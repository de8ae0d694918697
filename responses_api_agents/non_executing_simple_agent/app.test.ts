import { createTestServer, functionCallItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

it("asks once, and verifies the call of the model instead of running it", async () => {
  const paths: string[] = [];
  const asked: unknown[] = [];
  const output = [functionCallItem("get_weather", { city: "Lima" })];
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "tools" },
      model_server: { type: "responses_api_models", name: "model" },
    },
    servers: {
      model: (_path, body) => {
        asked.push(body);
        return modelResponse(...output);
      },
      tools: (path, body) => {
        paths.push(path);
        return path === "/verify" ? { ...(body as object), reward: 1 } : {};
      },
    },
  });
  const { body } = await server.post("/run", { responses_create_params: { input: "Weather?" } });
  expect(asked).toEqual([{ input: [{ role: "user", content: "Weather?", type: "message" }] }]);
  expect(paths).toEqual(["/seed_session", "/verify"]);
  expect(body.reward).toBe(1);
  expect(body.response.output[0].name).toBe("get_weather");
  const metrics = await server.post("/aggregate_metrics", { verify_responses: [] });
  expect([metrics.status, paths.at(-1)]).toEqual([200, "/aggregate_metrics"]);
  await server.close();
});
