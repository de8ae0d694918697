import { createJudgedServer, createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { aspectsOfTask, dimensionOf } from "./aspects.ts";
import { conversationText, messagesOf, nestedInstruction } from "./conversation.ts";
import { rolemrcMetrics } from "./metrics.ts";

const task = "role_related_mrc_answer_with_narration";

async function judge(replies: (string | object)[], row: object = {}, text = "ok", config: object = {}) {
  const settings = { mode: "judge", ...config };
  const { server, calls, prompts } = await createJudgedServer(definition, import.meta.url, replies, settings);
  const reply = await server.verify(verifyBody({ task, ...row }, messageItem(text)));
  return { ...reply, calls, prompts };
}

describe("rolemrc with a reference", () => {
  it("rewards the ROUGE-L of the answer after its reasoning", async () => {
    const server = await createTestServer(definition);
    const row = { reference: "the cat sat on the mat", task: "x-refused", id: 4 };
    const { body } = await server.verify(
      verifyBody(row, messageItem("<think>x</think> the cat sat on a mat")),
    );
    expect(body).toMatchObject({
      id: 4,
      generation: "the cat sat on a mat",
      dimension: "instruction_priority",
    });
    expect(body.reward).toBeCloseTo(5 / 6, 12);
    expect(body["bleu"]).toBeCloseTo(0.537284965911771, 12);
    expect(body["rougeL"]).toBe(body.reward);
  });

  it.each([
    ["include_bertscore", { include_bertscore: true }],
    ["judge_model_server", { mode: "judge" }],
  ])("refuses a config with bad %s", async (key, config) => {
    await expect(createTestServer(definition, { config })).rejects.toThrow(key);
  });
});

describe("rolemrc with a judge", () => {
  it.each([
    [["1", "Score: 0"], 0.5, []],
    [["<think>0</think>1", "+1"], 1, []],
    [["1.0", "yes"], 0, ["knowledge_range", "style_compliance"]],
  ])("%j earns %d", async (replies, reward, bad_aspects) => {
    const { body, prompts } = await judge(replies);
    expect(body).toMatchObject({ reward, bad_aspects, n_aspects: 2, judge_errors: [] });
    expect(prompts).toHaveLength(2);
    expect(prompts[0]).toContain("<response>\nok\n</response>");
  });

  it("asks for all aspects before it fails", async () => {
    const { body, calls } = await judge(["", "1"]);
    expect(body).toMatchObject({ _ng_failure_class: "judge_failed" });
    expect(calls).toHaveLength(2);
  });

  it("skips unknown tasks", async () => {
    const { body, calls } = await judge([], { task: "other" });
    expect(body).toMatchObject({ reward: 0, judge_skipped: true });
    expect(calls).toHaveLength(0);
  });
});

it("reports the averages of aspects, calls and dimensions", () => {
  const result = (aspects: object, reward: number) => [{ aspects, reward, dimension: "d", bleu: 0.5 }];
  const metrics = rolemrcMetrics.compute?.([
    result({ style_compliance: 1, knowledge_range: 0 }, 0.5),
    result({ style_compliance: 1 }, 1),
    result({ multi_turn_instruction: 0 }, 0),
  ]);
  expect(metrics).toMatchObject({
    mean_reward: 0.5,
    "dimension/d/count": 3,
    "auto/bleu/mean": 0.5,
    "aspect/style_compliance/count": 2,
    "judge/n_calls": 4,
    "judge/avg_simple": 1 / 3,
    "judge/avg_weighted": 0.5,
    "judge/avg_simple_no_mt": 0.5,
  });
});

it("knows the aspects and the dimension of each task", () => {
  expect(aspectsOfTask.size).toBe(18);
  expect(aspectsOfTask.get(`${task}-special-content`)?.map(({ name }) => name)).toEqual([
    "nested_instruction",
  ]);
  expect(dimensionOf(`${task}-2ndanswer`)).toBe("multi_turn");
  expect(dimensionOf(`${task}-special-format`)).toBe("nested_instruction");
  expect(dimensionOf(task)).toBe("on_scene_dialogue");
});

it("shows the judge the conversation and the nested instruction", () => {
  const input = [
    { role: "system", content: "You are Marta. You must answer in three words." },
    { role: "user", content: [{ type: "input_text", text: "Who?" }] },
  ];
  const messages = messagesOf(undefined, input);
  expect(conversationText(messages)).toBe(
    'System Instruction: "You are Marta. You must answer in three words."\nUser Query: "Who?"',
  );
  expect(nestedInstruction(messages)).toBe("answer in three words");
  const own = [{ role: "assistant", content: "Hm." }];
  expect(conversationText(messagesOf(own, input))).toBe('LLM Response: "Hm."');
});
