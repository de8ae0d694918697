import { defineResourcesServer } from "nemo-gym";
import { createTestServer, functionCallItem, messageItem, modelResponse } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const config = {
  resources_server: { type: "resources_servers", name: "shop" },
  model_server: { type: "responses_api_models", name: "policy" },
  user_model_server: { type: "responses_api_models", name: "user" },
};
const shop = defineResourcesServer({
  session: () => ({ orders: 0 }),
  tools: { order: { run: ({ session }) => ({ orders: ++session.orders }) } },
  verify: ({ session }) => ({ reward: session.orders }),
});
const answer = (...output: unknown[]) => ({
  ...modelResponse(...output),
  usage: {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 11,
  },
});
const says = (text: string) => answer(messageItem(text));

interface Asked {
  path: string;
  body: { input: { role?: string; content?: unknown }[] };
}

async function run(
  policy: unknown[],
  user: unknown[],
  options: { config?: object; globalConfig?: Record<string, unknown>; row?: object } = {},
) {
  const tools = await createTestServer(shop, { name: "shop" });
  const asked: Record<"policy" | "user", Asked[]> = { policy: [], user: [] };
  const model = (name: "policy" | "user", script: unknown[]) => (path: string, body: unknown) => {
    asked[name].push({ path, body: body as Asked["body"] });
    return script[asked[name].length - 1] ?? { status: 500, body: "no more turns" };
  };
  const server = await createTestServer(definition, {
    config: { ...config, ...options.config },
    globalConfig: { ...options.globalConfig },
    servers: { shop: tools.app, policy: model("policy", policy), user: model("user", user) },
  });
  const row = {
    responses_create_params: { input: [{ role: "system", content: "You sell tea." }] },
    user_scenario: "You want green tea.",
    ...options.row,
  };
  const reply = await server.post("/run", row);
  await server.close();
  await tools.close();
  return { reply, body: reply.body, asked };
}

const order = functionCallItem("order", {}, "c1");

describe("a conversation", () => {
  it("continues until the user is done, in one session", async () => {
    const { body, asked } = await run(
      [says("Green or black?"), answer(order), says("Ordered.")],
      [says("Tea, please."), says("Green."), says("###STOP###")],
    );
    expect(body.reward).toBe(1);
    expect(body.user_simulation).toMatchObject({ stop_reason: "user_stop", user_model_calls: 3 });
    const said = body.response.output.map((item: { type: string; role?: string }) => item.role ?? item.type);
    expect(said).toEqual(["user", "assistant", "user", "function_call", "function_call_output", "assistant"]);
    // Each side is counted separately.
    expect(body.response.usage.input_tokens).toBe(30);
    expect(body.user_simulation.user_usage.input_tokens).toBe(30);
    expect(asked.policy[1]?.body.input.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
  });

  it("is shown to the user's model with swapped roles, without tools and instructions", async () => {
    const { asked } = await run([answer(order), says("Ordered.")], [says("###STOP###")], {
      row: { initial_user_message: "Green tea!" },
    });
    const [system, ...heard] = asked.user[0]?.body.input ?? [];
    expect(system).toMatchObject({ role: "system", content: expect.stringContaining("You want green tea.") });
    expect(system?.content).toContain("###STOP###");
    expect(heard.map(({ role, content }) => [role, content])).toEqual([
      ["user", "Hello, how can I help you?"],
      ["assistant", "Green tea!"],
      ["user", "Ordered."],
    ]);
  });

  it("begins with the initial user message of the row", async () => {
    const params = { input: "Tea." };
    const { body, asked } = await run([says("Here.")], [says("Thanks. BYE")], {
      row: { responses_create_params: params },
      config: { stop_words: ["BYE"] },
    });
    expect(asked.user).toHaveLength(1);
    expect(body.response.output).toHaveLength(1);
    expect(body.user_simulation.stop_reason).toBe("user_stop");
  });

  it("ends after max_user_turns, or if the agent cannot continue", async () => {
    const short = await run([says("a"), says("b")], [says("x"), says("y")], {
      config: { max_user_turns: 2 },
    });
    expect(short.body.user_simulation).toMatchObject({ stop_reason: "max_user_turns", user_model_calls: 2 });
    const stuck = await run([answer(order), answer(order)], [says("x")], { config: { max_steps: 2 } });
    expect(stuck.body.user_simulation.stop_reason).toBe("agent_incomplete");
    expect(stuck.body.response.incomplete_details).toEqual({ reason: "max_steps" });
  });
});

it("fails if the user's model fails", async () => {
  const failure = {
    class: "provider_auth",
    stage: "model",
    retryable: false,
    message: "401 from u: bad key",
  };
  const { reply } = await run([], [{ status: 401, body: { detail: failure.message, error: failure } }]);
  expect(reply).toMatchObject({ status: 401, body: { error: failure } });
});

it("attributes the calls of both models, but records only the tokens of the policy", async () => {
  const { asked } = await run([says("a")], [says("x"), says("###STOP###")], {
    config: { token_id_capture: true },
    globalConfig: { token_id_capture: { enabled: true, dir: "/nowhere" } },
    row: { _ng_task_index: 1, _ng_rollout_index: 0 },
  });
  expect(asked.policy[0]?.path).toBe("/ng-rollout/1-0/training-token-capture/v1/responses");
  expect(asked.user[0]?.path).toBe("/ng-rollout/1-0/v1/responses");
});
