import { createTestServer, messageItem, modelResponse, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const lookup = {
  name: "lookup",
  params: {
    type: "object",
    properties: { id: { type: "string" } },
    required: ["id"],
    additionalProperties: false,
  },
  returns: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] },
};
const row = {
  policy: "p",
  tools: [lookup, { name: "free" }],
  customer_scenario: { reason_for_contact: "Late" },
};
const model = (name: string) => ({ type: "responses_api_models", name });
type Script = (string | { status: number; body: string })[];
const verdict = (success: boolean) => JSON.stringify({ success, explanation: "" });

async function start(scripts: { user?: Script; tool?: Script; judge?: Script }, config: object = {}) {
  const prompts: string[] = [];
  const play = (script: Script = []) => {
    let next = 0;
    return (_path: string, body: unknown) => {
      const { input } = body as { input: { content: string }[] };
      prompts.push(input.at(-1)?.content ?? "");
      const reply = script[next++];
      if (reply === undefined) throw new Error("connection refused");
      return typeof reply === "string" ? modelResponse(messageItem(reply)) : reply;
    };
  };
  const server = await createTestServer(definition, {
    config: {
      user_model_server: model("user"),
      tool_simulator_model_server: model("tool"),
      judge_model_server: model("judge"),
      judge_provider_retry_initial_backoff_seconds: 0,
      ...config,
    },
    directory: import.meta.dirname,
    servers: { user: play(scripts.user), tool: play(scripts.tool), judge: play(scripts.judge) },
  });
  await server.seed(row);
  const say = (content: string) =>
    server.tool("record_agent_outputs", { outputs: [{ type: "message", content }] });
  const verify = async () => server.verify(verifyBody({}, messageItem("")));
  const execute = (given: string, tool_name = "lookup", tool_call_id = "c") =>
    server.tool("execute_agent_tool_call", { tool_name, tool_call_id, arguments: given });
  return { server, say, verify, execute, prompts };
}

/** One question, one answer, and the customer is content. */
async function converse(judge: Script, config: object = {}, farewell = "###STOP###") {
  const conversation = await start({ user: ["Customer: Hi", farewell], judge }, config);
  await conversation.server.tool("next_user_message", {});
  await conversation.say("It ships today");
  await conversation.server.tool("next_user_message", {});
  return conversation;
}

describe("the judge", () => {
  it("looks at the simulated messages first, then at the agent and the whole", async () => {
    const { verify, prompts } = await converse([true, true, true, true].map(verdict));
    expect((await verify()).body).toMatchObject({ reward: 1, failure_labels: [] });
    expect(prompts.slice(-4).map((text) => /<under_review>\n(.*)\n/.exec(text)?.[1])).toEqual([
      "Customer: Hi",
      "Customer: ###STOP###",
      "Representative: It ships today",
      "the whole conversation",
    ]);
  });

  it("does not blame the policy for the customer", async () => {
    const { body } = await (await converse([verdict(false)])).verify();
    expect(body).toMatchObject({ reward: 0, mask_sample: true, failure_labels: ["user_failure"] });
  });

  it("blames the policy for its own messages", async () => {
    const { body } = await (await converse([true, true, false].map(verdict))).verify();
    expect(body).toMatchObject({ reward: 0, mask_sample: false, failure_labels: ["agent_failure"] });
  });

  it("is asked again after a reply without a verdict, and fails the rollout if there is none", async () => {
    const { body } = await (await converse(["maybe", "[1]", '{"success": "yes"}'])).verify();
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed", mask_sample: true });
  });

  it("keeps the session while its endpoint fails", async () => {
    const busy = { status: 503, body: "busy" };
    const { verify } = await converse([busy, busy, busy, ...[true, true, true, true].map(verdict)]);
    const failed = await verify();
    expect(failed.status).toBe(503);
    expect(failed.text).toContain("judge_failed");
    expect((await verify()).body.reward).toBe(1);
  });

  it("is not asked when the transfer is wrong", async () => {
    const { verify, prompts } = await converse([], { enforce_transfer_ground_truth: true }, "###TRANSFER###");
    expect((await verify()).body).toMatchObject({
      ...{ reward: 0, failure_labels: ["agent_failure"], judge_skipped_for_transfer_mismatch: true },
    });
    expect(prompts).toHaveLength(2);
  });
});

describe("tools", () => {
  it.each([
    ["{", "lookup"],
    ['{"id": 7}', "lookup"],
    ['{"id": "7", "x": 1}', "lookup"],
    ["{}", "nothing"],
  ])("end the conversation at the call %s of %s", async (given, name) => {
    const { execute, verify } = await start({});
    expect((await execute(given, name)).body).toMatchObject({ schema_valid: false, should_continue: false });
    expect((await verify()).body).toMatchObject({
      reward: 0,
      failure_labels: ["agent_failure"],
      mask_sample: false,
    });
  });

  it("are asked again until their answer fits, whatever its fence", async () => {
    const { execute } = await start({ tool: ["bad", '```json\n{"ok": true}\n```'] });
    expect((await execute('{"id": "7"}')).body).toMatchObject({ schema_valid: true, terminal_state: null });
    expect((await execute('{"id": "7"}')).status).toBe(400);
  });

  it("fail the rollout if they cannot be reached", async () => {
    const { execute, verify } = await start({});
    expect((await execute('{"id": "7"}')).body).toMatchObject({ schema_valid: false });
    expect((await verify()).body).toMatchObject({ reward: 0, _ng_failure_class: "tool_error" });
  });
});

it("rejects calls without a conversation, and histories that do not fit", async () => {
  const { server } = await start({});
  expect((await server.tool("discard_session", {})).body).toEqual({ discarded: true });
  expect((await server.tool("next_user_message", {})).status).toBe(400);
  const input = [{ type: "function_call_output", call_id: "x", output: "1" }];
  expect((await server.seed({ ...row, responses_create_params: { input } }, server.newJar())).status).toBe(
    400,
  );
  const other = { ...row, initial_user_message: "a", responses_create_params: { input: "b" } };
  expect((await server.seed(other, server.newJar())).status).toBe(400);
});
