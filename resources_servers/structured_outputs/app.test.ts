import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { structuredOutputsMetrics } from "./metrics.ts";

const schema_str = JSON.stringify({ type: "object", properties: { name: { type: "string" } } });

async function verify(row: Record<string, unknown>, ...output: unknown[]) {
  const server = await createTestServer(definition);
  return server.verify(verifyBody({ schema_str, ...row }, ...output));
}

describe("text mode", () => {
  it("joins the parts, reports the error and returns the fields of the row", async () => {
    const { body } = await verify(
      { problem_type: "direct", num_turns: "2" },
      messageItem('{"na', 'me": "Ann"}'),
    );
    expect(body).toMatchObject({
      reward: 1,
      error_type: null,
      error_message: null,
      schema_str,
      schema_type: "json",
      response_mode: "text",
      problem_type: "direct",
      num_turns: 2,
      tool_name: null,
      has_distractors: null,
    });
    const bad = await verify({}, messageItem("{}"));
    expect(bad.body).toMatchObject({ reward: 0, error_type: "validation_error" });
    expect(bad.body.error_message).toMatch(/^ValidationError/);
  });

  it("truncates long messages", async () => {
    const { body } = await verify({ schema_str: `{"type": "${"x".repeat(500)}"}` }, messageItem("{}"));
    expect(body.error_message.length).toBeLessThanOrEqual(200);
  });

  it.each([
    ["schema_type", { schema_type: "JSON" }],
    ["schema_str", { schema_str: 5 }],
    ["num_tools", { num_tools: "many" }],
  ])("refuses a row with a bad %s", async (field, row) => {
    const { status, text } = await verify(row, messageItem("{}"));
    expect([status, text.includes(field)]).toEqual([422, true]);
  });
});

describe("tool mode", () => {
  const row = { response_mode: "tool_call", tool_name: "submit", schema_type: "xml" };
  const good = { name: "Ann" };

  it("validates all arguments, or the argument that contains the payload", async () => {
    expect((await verify(row, functionCallItem("submit", good))).body.reward).toBe(1);
    const wrapped = { ...row, tool_payload_key: "data" };
    expect((await verify(wrapped, functionCallItem("submit", { data: good, note: 1 }))).body.reward).toBe(1);
  });

  it.each([
    ["missing_tool_call", {}, [messageItem("{}")]],
    ["multiple_tool_calls", {}, [functionCallItem("submit", good), functionCallItem("submit", good)]],
    ["wrong_tool_name", {}, [functionCallItem("other", good)]],
    ["tool_arguments_parse_error", {}, [functionCallItem("submit", "{")]],
    ["missing_tool_payload_key", { tool_payload_key: "data" }, [functionCallItem("submit", good)]],
    ["missing_tool_payload_key", { tool_payload_key: "data" }, [functionCallItem("submit", "[]")]],
    ["validation_error", {}, [functionCallItem("submit", { name: 5 })]],
  ])("%s", async (error_type, extra, output) => {
    expect((await verify({ ...row, ...extra }, ...output)).body).toMatchObject({ reward: 0, error_type });
  });

  it("reports an error of the provider", async () => {
    const server = await createTestServer(definition);
    const body = verifyBody({ schema_str, ...row }, functionCallItem("submit", good)) as { response: object };
    const response = { ...body.response, error: { code: "server_error", message: "boom" } };
    expect((await server.verify({ ...body, response })).body.error_type).toBe("api_error");
  });
});

describe("metrics", () => {
  it("averages rewards by format and by every other field that describes the task", () => {
    const tasks = [
      [
        { reward: 1, schema_type: "json", problem_type: "direct", parallel_tool_calls: false, num_tools: 2 },
        { reward: 0, schema_type: "json", schema_repr: "", parallel_tool_calls: true },
      ],
      [{ reward: 1, schema_type: "csv", tool_union_mode: "any_of", has_distractors: null }],
    ];
    expect(structuredOutputsMetrics.compute?.(tasks)).toEqual({
      "mean/reward_json": 0.5,
      "mean/reward_csv": 1,
      "mean/reward_direct": 1,
      "mean/reward_parallel_tool_calls_false": 1,
      "mean/reward_parallel_tool_calls_true": 0,
      "mean/reward_num_tools_2": 1,
      "mean/reward_tool_union_mode_any_of": 1,
    });
  });
});
