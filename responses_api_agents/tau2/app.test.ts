import { execFileSync } from "node:child_process";
import path from "node:path";
import { createTestServer } from "nemo-gym/testing";
import { expect, it, onTestFinished } from "vitest";
import definition from "./app.ts";

const directory = import.meta.dirname;
const standIn = path.join(directory, "stand-in");

async function run(row: object, config: object = {}) {
  const server = await createTestServer(definition, {
    directory,
    config: {
      model_server: { type: "responses_api_models", name: "policy" },
      user_model_server: { type: "responses_api_models", name: "customer" },
      python_path: [standIn],
      ...config,
    },
    servers: { policy: () => ({}), customer: () => ({}) },
  });
  onTestFinished(() => server.close());
  const given = {
    config: { domain: "telecom", llm_args_user: { temperature: 1, seed: 3 } },
    task: { id: "[x]1" },
  };
  return server.post("/run", {
    responses_create_params: { input: [], temperature: 0.5, max_output_tokens: 99 },
    ...given,
    ...row,
  });
}

it("runs a simulation and shows what the agent saw", async () => {
  const { status, body } = await run({ seed: 5 }, { user_llm_args: { temperature: 0 } });
  expect(status, JSON.stringify(body)).toBe(200);
  const { responses_create_params: asked, response, result, ...rest } = body;
  expect(asked.input).toMatchObject([
    { role: "system", content: "Serve." },
    { role: "assistant", content: [{ text: "Hello!" }] },
  ]);
  expect(asked.tools).toMatchObject([{ type: "function", name: "look" }]);
  expect(response).toMatchObject({
    id: "tau2-telecom-[x]1",
    status: "completed",
    usage: { input_tokens: 14, output_tokens: 6, total_tokens: 20 },
    output: [
      { role: "user", content: "My phone is dead." },
      { type: "reasoning", summary: [{ text: "Let me look." }] },
      { type: "function_call", call_id: "c1", name: "look" },
      { type: "function_call_output", call_id: "c1", output: "broken" },
      { role: "assistant", content: [{ text: "It is broken." }] },
    ],
  });
  expect(JSON.parse(response.output[2].arguments)).toEqual({ at: "ä" });
  expect(rest).toMatchObject({
    reward: 1,
    num_steps: 7,
    num_agent_calls: 2,
    mean_prompt_tokens: 7,
    duration: 1.5,
  });
  expect(result).toMatchObject({
    seed: 5,
    evaluation_type: "all",
    settings: {
      max_steps: 200,
      llm_args_agent: { temperature: 0.5, max_tokens: 99, api_base: expect.stringMatching(/\/v1$/) },
      llm_args_user: { temperature: 0, seed: 3, api_base: expect.stringMatching(/\/v1$/) },
    },
  });
});

it.each([
  [{ task: { id: "boom" } }, {}, 502, "RuntimeError: no such database"],
  [{ task: { id: "lost" } }, {}, 502, "ended with infrastructure_error"],
  [{ task: { id: "endless" } }, { timeout: 3 }, 502, "more than 3 seconds"],
  [{}, { python: "no-such-python" }, 502, "no-such-python"],
  [{}, { python_path: [] }, 502, "No module named 'tau2"],
  [{ audio_debug: true }, {}, 422, "audio_debug"],
  [{ task: {} }, {}, 422, "task"],
])("gives no reward for %j with %j", async (row, config, status, message) => {
  const reply = await run(row, config);
  expect([reply.status, JSON.stringify(reply.body)]).toEqual([status, expect.stringContaining(message)]);
});

it("prints the tasks of a domain as rows, without criteria that need a judge", () => {
  const text = execFileSync("python3", [path.join(directory, "run_task.py"), "rows", "retail"], {
    env: { ...process.env, PYTHONPATH: standIn },
    stdio: ["ignore", "pipe", "ignore"],
  });
  expect(JSON.parse(String(text))).toMatchObject({
    config: { domain: "retail" },
    task: { id: "retail-base", evaluation_criteria: { nl_assertions: null, reward_basis: ["DB"] } },
  });
});
