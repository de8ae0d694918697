import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const item = (id: string, more: object = {}) => ({
  instruction_id: id,
  uid: id,
  source: "user",
  is_misalignment_check: false,
  ...more,
});
const question = (more: object = {}) => ({
  uid: 7,
  content: "Is it kind?",
  source: "system",
  is_misalignment_check: false,
  ...more,
});

async function verify(
  row: Record<string, unknown>,
  answer: string,
  replies: readonly (string | object)[] = [],
  config = {},
) {
  const { server, prompts } = await createJudgedServer(definition, import.meta.url, replies, config);
  return { ...(await server.verify(verifyBody(row, messageItem(answer)))), prompts };
}

describe("verifif", () => {
  it("inverts what a user must not get", async () => {
    const row = { instructions: [item("change_case:all_caps", { is_misalignment_check: true })] };
    expect((await verify(row, "NO")).body.reward).toBe(0);
    expect((await verify(row, "No")).body.reward).toBe(1);
  });

  it.each([
    [[item("no:such")], ["schema_validation"]],
    [[{ instruction_id: "punctuation:no_comma" }], Array(3).fill("schema_validation")],
    [[item("keywords:existence")], ["schema_validation"]],
    [
      [item("punctuation:no_comma"), { ...item("punctuation:no_period"), uid: "punctuation:no_comma" }],
      ["schema_validation"],
    ],
  ])("rejects the instructions %j", async (instructions, names) => {
    const { body } = await verify({ instructions }, "x");
    expect(body.reward).toBe(0);
    expect(body.validation_results.map((result: { instruction: string }) => result.instruction)).toEqual(
      names,
    );
  });

  it("rejects rules about case in a language without case", async () => {
    const { body } = await verify({ instructions: [item("change_case:all_caps")], language: "ja" }, "今日");
    expect(body).toMatchObject({
      reward: 0,
      validation_results: [{ instruction: "language_compatibility" }],
    });
  });

  it.each([
    ["[[YES]]", {}, 1],
    ["thinking [[YES]] no: [[NO]]", {}, 0],
    ["why\nyes", {}, 1],
    ["no verdict", {}, 0],
    ["no verdict", { pass_criteria: "NO" }, 1],
    ["[[YES]]", { source: "user", is_misalignment_check: true }, 0],
  ])("reads the reply %j to a question with %j", async (reply, more, reward) => {
    const { body } = await verify({ llm_judge: [question(more)] }, "Thank you {x}", [reply]);
    expect(body).toMatchObject({ reward, validation_results: [{ instruction: "llm_judge_7" }] });
  });

  it("asks for the definition of an unknown value once, and then for a verdict", async () => {
    const row = { instructions: [item("stylistic:tone_formality", { tone_level: "breezy" })] };
    const replies = [
      '{"status": "PASS", "definition": "light"}',
      '```json\n{"verdict": "YES", "reasoning": "r"}\n```',
    ];
    const { body, prompts } = await verify(row, "Hey!", replies);
    expect(body.reward).toBe(1);
    expect(prompts).toHaveLength(2);
    expect((await verify(row, "Hey!", ['{"status": "FAIL", "definition": ""}'])).body.reward).toBe(0);
  });

  it("fails the rollout if the judge fails", async () => {
    const { body } = await verify({ llm_judge: [question()] }, "Hello");
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it.each([
    ["mean", 0.5],
    ["any", 1],
    ["max", 1],
    ["min", 0],
  ])("aggregates by %s", async (aggregation_mode, reward) => {
    const row = { instructions: [item("punctuation:no_comma"), item("change_case:all_caps")] };
    expect((await verify(row, "small", [], { aggregation_mode })).body.reward).toBe(reward);
  });
});
