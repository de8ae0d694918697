import { expect, it } from "vitest";
import type { JsonObject } from "../../base/python/json/json-object.ts";
import { defineAgent } from "../definitions/define-agent.ts";
import { defineResourcesServer } from "../definitions/define-resources.ts";
import { modelResponse } from "./response-items.ts";
import { createTestServer } from "./test-server.ts";

const observed = {
  observability_enabled: true,
  model_call_capture_dir: "/captures",
  judge: { responses_api_models: { openai_model: {} } },
  tools: { resources_servers: { harbour: {} } },
  other_agent: { responses_api_agents: { simple_agent: {} } },
};
const response = modelResponse();
const row = { _ng_task_index: 3, _ng_rollout_index: 1, responses_create_params: { input: "q" } };

function recorder() {
  const paths: string[] = [];
  const server = (path: string) => {
    paths.push(path);
    return response;
  };
  return { paths, servers: { judge: server, tools: server, other_agent: server } };
}

const judging = defineResourcesServer({
  async verify({ server }) {
    // Runs after the handler's first turn: the rollout must still be known.
    await new Promise((resolve) => setTimeout(resolve, 1));
    await server.client.post("judge", "/v1/responses", {});
    await server.client.post("judge", "/tokenize", {});
    await server.client.post("tools", "/lookup", {});
    await server.client.post("tools", "/ng-rollout/other/lookup", {});
    await server.client.post("other_agent", "/v1/responses", {});
    return { reward: 1 };
  },
});

async function verify(path: string, globalConfig: JsonObject, body: JsonObject = row) {
  const { paths, servers } = recorder();
  const server = await createTestServer(judging, { globalConfig, servers });
  const reply = await server.post(path, { ...body, response });
  expect(reply.status).toBe(200);
  return paths;
}

it("attributes the calls of a rollout to it on routes that are recorded", async () => {
  const attributed = (id: string) => [
    `/ng-rollout/${id}/v1/responses`,
    "/tokenize",
    `/ng-rollout/${id}/lookup`,
    "/ng-rollout/other/lookup",
    "/v1/responses",
  ];
  expect(await verify("/ng-rollout/9-9/verify", observed)).toEqual(attributed("9-9"));
  expect(await verify("/verify", observed)).toEqual(attributed("3-1"));
});

it("does not change calls without a rollout or in runs that are not observed", async () => {
  const bare = ["/v1/responses", "/tokenize", "/lookup", "/ng-rollout/other/lookup", "/v1/responses"];
  expect(await verify("/verify", observed, { responses_create_params: { input: "q" } })).toEqual(bare);
  expect(await verify("/ng-rollout/9-9/verify", { ...observed, observability_enabled: false })).toEqual(bare);
});

it("separates concurrent rollouts", async () => {
  const { paths, servers } = recorder();
  const server = await createTestServer(judging, { globalConfig: observed, servers });
  const ids = Array.from({ length: 20 }, (_, index) => `7-${index}`);
  await Promise.all(
    ids.map((id) => server.post(`/ng-rollout/${id}/verify`, { ...row, response }, server.newJar())),
  );
  for (const id of ids) expect(paths.filter((path) => path.startsWith(`/ng-rollout/${id}/`))).toHaveLength(2);
});

it("derives the rollout of a verify call from its body", async () => {
  const { paths, servers } = recorder();
  const agent = defineAgent({
    async responses({ server }) {
      await server.client.post("tools", "/verify", row);
      await server.client.post("tools", "/seed_session", row);
      return { response: response as never, cookies: {} };
    },
  });
  const server = await createTestServer(agent, { globalConfig: observed, servers });
  await server.post("/v1/responses", { input: "q" });
  expect(paths).toEqual(["/ng-rollout/3-1/verify", "/seed_session"]);
});
