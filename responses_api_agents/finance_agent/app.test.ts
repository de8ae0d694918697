import { defineResourcesServer } from "nemo-gym";
import { createTestServer, functionCallItem, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";
import { withoutOldestExchange } from "./context.ts";

const environment = defineResourcesServer({
  session: () => ({ calls: [] as string[] }),
  fallbackTool: {
    run({ name, session }) {
      session.calls.push(name);
      if (name === "broken") throw new Error("no disk");
      return { results: name === "limited" ? '{"error": "RateLimit: slow"}' : "ok" };
    },
  },
  verify: ({ session }) => ({
    reward: Number(session.calls.includes("submit_final_result")),
    calls: session.calls,
  }),
});
const call = (name: string, id = name) => functionCallItem(name, {}, id);
const tooLong = {
  status: 400,
  body: { error: { message: "This model's maximum context length is 10 tokens" } },
};

async function run(policy: object[], config: object = {}) {
  const tools = await createTestServer(environment, { name: "shop" });
  const inputs: { type?: string; role?: string }[][] = [];
  const agent = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "shop" },
      model_server: { type: "responses_api_models", name: "policy" },
      ...{ max_time_seconds: null, no_tool_call_nudge: "Go on.", abort_on_tool_error_types: ["RateLimit"] },
      ...config,
    },
    servers: {
      shop: tools.app,
      policy(_path, body) {
        inputs.push((body as { input: [] }).input);
        return policy[inputs.length - 1] ?? { status: 500, body: "no more turns" };
      },
    },
  });
  const { status, body } = await agent.post("/run", { responses_create_params: { input: "Q" } });
  await agent.close();
  await tools.close();
  return { status, body, inputs };
}

it("ends with the tool that submits, and leaves later calls out", async () => {
  const { body } = await run([
    modelResponse(messageItem("Hm.")),
    modelResponse(call("look"), call("broken"), call("submit_final_result"), call("late")),
  ]);
  expect(body).toMatchObject({ reward: 1, calls: ["look", "broken", "submit_final_result"] });
  expect(body.response.metadata).toMatchObject({ stop_reason: "done_tool", steps: "2" });
  expect(body.response.output[1]).toMatchObject({ role: "user", content: "Go on." });
});

it.each([
  [[modelResponse(messageItem("a"))], { max_steps: 1 }, "max_turns"],
  [[modelResponse(messageItem("a"))], { max_time_seconds: 0 }, "max_time"],
  [[modelResponse(call("limited"))], {}, "tool_error"],
  [
    [{ ...modelResponse(call("look")), incomplete_details: { reason: "max_output_tokens" } }],
    {},
    "max_output_tokens",
  ],
  [[modelResponse(call("look")), tooLong], { truncate_on_overflow: true }, "error"],
])("case %#: stops with a reason", async (policy, config, reason) => {
  const { body } = await run(policy, config);
  expect(body.response.metadata.stop_reason).toBe(reason);
  expect(body.reward).toBe(0);
});

it("forgets the oldest exchange if the context is too long", async () => {
  const turns = [
    modelResponse(call("a"), call("b")),
    modelResponse(call("c")),
    tooLong,
    modelResponse(call("submit_final_result")),
  ];
  const { body, inputs } = await run(turns, { truncate_on_overflow: true });
  expect(body.reward).toBe(1);
  expect(inputs[3]?.map(({ type, role }) => role ?? type)).toEqual([
    "user",
    "function_call",
    "function_call_output",
  ]);
  expect(body.response.output).toHaveLength(8);
  expect(withoutOldestExchange([])).toBeUndefined();
});

it("fails the rollout if the model cannot be asked", async () => {
  expect((await run([modelResponse(call("look"))])).status).toBeGreaterThanOrEqual(500);
});
