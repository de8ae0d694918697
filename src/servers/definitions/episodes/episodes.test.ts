import { afterEach, expect, it } from "vitest";
import legacyAgent from "../../../../environment_servers/legacy_agent/app.ts";
import singleAgentTurn from "../../../../environment_servers/single_agent_turn/app.ts";
import mcqa from "../../../../resources_servers/mcqa/app.ts";
import simpleAgent from "../../../../responses_api_agents/simple_agent/app.ts";
import { messageItem, modelResponse } from "../../hosting/response-items.ts";
import { createTestServer, type TestServer } from "../../hosting/test-server.ts";

const open: TestServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const refs = {
  agent_server: { type: "responses_api_agents", name: "agent" },
  resources_server: { type: "resources_servers", name: "mcqa" },
};
const row = {
  responses_create_params: { input: "Which letter?" },
  expected_answer: "B",
  options: [{ A: "one" }, { B: "two" }],
};

/** An environment server with a real agent and a real environment behind it. */
async function start(definition: Parameters<typeof createTestServer>[0], config: object, answer: string) {
  const resources = await createTestServer(mcqa, { name: "mcqa" });
  const agent = await createTestServer(simpleAgent, {
    name: "agent",
    config: {
      model_server: { type: "responses_api_models", name: "model" },
      resources_server: refs.resources_server,
    },
    servers: { model: () => modelResponse(messageItem(answer)), mcqa: resources.app },
  });
  const server = await createTestServer(definition, {
    name: "env",
    config: { ...config },
    servers: { agent: agent.app, mcqa: resources.app },
  });
  open.push(resources, agent, server);
  return server;
}

it("relays runs to the agent of legacy_agent", async () => {
  const server = await start(legacyAgent, { agent_server: refs.agent_server }, "\\boxed{B}");
  const { status, body } = await server.post("/run", { ...row, _ng_task_index: 0, _ng_rollout_index: 0 });
  expect(status).toBe(200);
  expect(body).toMatchObject({ reward: 1, mask_sample: false, failure_kind: null });
  expect((await server.post("/run", { ...row, responses_create_params: 1 })).status).toBe(422);
});

it("scores an episode with sessions of the agent and of the environment", async () => {
  const server = await start(singleAgentTurn, refs, "\\boxed{B}");
  const task = { task_id: { taskset: "t", task_id: "1" }, task_input: row };
  const { body } = await server.post("/run", { episode_id: { rollout_id: "0-0" }, task });
  expect(body).toMatchObject({ failure: null, result: { reward: 1, ng_agent_observations: null } });
  const wrong = await start(singleAgentTurn, refs, "\\boxed{A}");
  const reply = await wrong.post("/run", { episode_id: { rollout_id: "0-1" }, task });
  expect(reply.body.result.reward).toBe(0);
});

it("rejects unknown keys of an environment server", async () => {
  const config = { ...refs, queue_timeout_second: 3 };
  await expect(createTestServer(singleAgentTurn, { config })).rejects.toThrow(/queue_timeout_seconds/);
});
