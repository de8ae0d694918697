import { createTestServer, functionCallItem, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import simulation from "../../resources_servers/conversational_tool_use_simulation/app.ts";
import definition from "./app.ts";

const simulationDirectory = new URL(
  "../../resources_servers/conversational_tool_use_simulation/",
  import.meta.url,
);
const model = (name: string) => ({ type: "responses_api_models", name });
const says = (text: string) => modelResponse(messageItem(text));
const lookup = (id: string, callId: string) => functionCallItem("lookup", { id }, callId);
const tool = {
  name: "lookup",
  doc: "finds an order",
  params: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  returns: { type: "object" },
};
const row = {
  policy: "Refunds need an order number.",
  tools: [tool],
  customer_scenario: { reason_for_contact: "My order is late" },
  responses_create_params: { input: [] as object[] },
};

async function run(
  scripts: Record<"policy" | "user" | "tool", object[]>,
  options: { row?: object; config?: object } = {},
) {
  const asked: Record<string, { input: { role?: string }[]; tools?: { name: string }[] }[]> = {};
  const script = (name: keyof typeof scripts) => (_path: string, body: unknown) => {
    asked[name] = [...(asked[name] ?? []), body as never];
    return scripts[name][(asked[name]?.length ?? 0) - 1] ?? { status: 500, body: "no more replies" };
  };
  const environment = await createTestServer(simulation, {
    name: "shop",
    config: {
      user_model_server: model("user"),
      tool_simulator_model_server: model("tool"),
      enable_llm_judge: false,
    },
    directory: simulationDirectory.pathname,
    servers: { user: script("user"), tool: script("tool") },
  });
  const agent = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "shop" },
      model_server: model("policy"),
      ...options.config,
    },
    servers: { shop: environment.app, policy: script("policy") },
  });
  const reply = await agent.post("/run", { ...row, ...options.row });
  await agent.close();
  await environment.close();
  const said = reply.body.response?.output?.map(
    (item: { role?: string; type: string }) => item.role ?? item.type,
  );
  return { ...reply, asked, said };
}

it("lets the customer, the model and the tools alternate", async () => {
  const { body, said, asked } = await run({
    user: [says("Customer: Where is it?"), says("Thanks ###STOP###")],
    policy: [modelResponse(lookup("7", "a"), lookup("8", "b")), says("It ships today.")],
    tool: [says('{"state": "packed"}')],
  });
  expect(body).toMatchObject({ reward: 1, terminal_state: "complete", num_tool_calls: 1 });
  expect(said).toEqual(["user", "function_call", "function_call_output", "assistant", "user"]);
  expect(asked["policy"]?.[0]?.tools?.map(({ name }) => name)).toEqual(["lookup"]);
  expect(asked["policy"]?.[0]?.input.map(({ role }) => role)).toEqual(["system", "user"]);
});

it("runs all calls of a turn if the row allows it", async () => {
  const { body } = await run(
    {
      user: [says("Hi"), says("###STOP###")],
      policy: [modelResponse(lookup("7", "a"), lookup("8", "b")), says("Both ship today.")],
      tool: [says("{}"), says("{}")],
    },
    { row: { responses_create_params: { input: [], parallel_tool_calls: true } } },
  );
  expect(body).toMatchObject({ reward: 1, num_tool_calls: 2, num_tool_results: 2 });
});

it("ends at the step limit, at an invalid call and at an empty answer", async () => {
  const user = [says("Hi"), says("Again"), says("Again")];
  const limited = await run(
    { user, policy: [says("a"), says("b")], tool: [] },
    { config: { max_agent_steps: 2 } },
  );
  expect(limited.body).toMatchObject({ reward: 0, trajectory_invalid_reasons: ["excessive_length"] });
  const invalid = await run({ user, policy: [modelResponse(functionCallItem("lookup", {}, "a"))], tool: [] });
  expect(invalid.body).toMatchObject({ reward: 0, failure_labels: ["agent_failure"] });
  const empty = await run({ user, policy: [says(" ")], tool: [] });
  expect(empty.body).toMatchObject({ reward: 0, trajectory_invalid_reasons: ["message_generation_error"] });
  expect(empty.body.mask_sample).toBe(false);
});

it("continues a history that ends with a call", async () => {
  const input = [
    { role: "user", content: "Where is it?" },
    { type: "function_call", name: "lookup", call_id: "p", arguments: '{"id":"1"}' },
  ];
  const { said, body } = await run(
    { user: [says("###STOP###")], policy: [says("Packed.")], tool: [says('{"state":"packed"}')] },
    { row: { responses_create_params: { input } } },
  );
  expect(said).toEqual(["function_call_output", "assistant", "user"]);
  expect(body.reward).toBe(1);
});

it("fails the rollout if a model cannot be reached", async () => {
  const policy = await run({ user: [says("Hi")], policy: [], tool: [] });
  expect(policy.status).toBeGreaterThanOrEqual(500);
  const user = await run({ user: [], policy: [], tool: [] });
  expect(user.body).toMatchObject({ reward: 0, _ng_failure_class: "tool_error", mask_sample: true });
});
