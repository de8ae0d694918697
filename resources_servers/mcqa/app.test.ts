import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { choiceMetrics } from "../../libraries/multiple-choice/metrics.ts";
import definition from "./app.ts";

const raw = String.raw;
const row = { options: [{ A: "Red" }, { B: "Blue" }], expected_answer: " b " };

async function verify(text: string, extra: Record<string, unknown> = {}, config = {}) {
  const server = await createTestServer(definition, { config });
  return server.verify(verifyBody({ ...row, ...extra }, messageItem(text)));
}

describe("mcqa", () => {
  it("rewards the expected letter and reports the extracted one", async () => {
    const { status, body } = await verify(raw`I think \boxed{B}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ reward: 1, expected_answer: "B", extracted_answer: "B" });
    expect(body).not.toHaveProperty("options");
  });

  it("gives 0 for empty text or a row without an answer", async () => {
    expect((await verify(" \n")).body).toMatchObject({ reward: 0, extracted_answer: null });
    expect((await verify(raw`\boxed{B}`, { expected_answer: null })).body).toMatchObject({
      reward: 0,
      expected_answer: "",
      extracted_answer: "B",
    });
  });

  it("lets the config override the row's grading mode", async () => {
    const text = "Answer: B";
    expect((await verify(text)).body.reward).toBe(0);
    expect((await verify(text, { grading_mode: "lenient_answer_colon" })).body.reward).toBe(1);
    expect((await verify(text, {}, { grading_mode: "lenient_answer_colon_md" })).body.reward).toBe(1);
    expect(
      (await verify(text, { grading_mode: "lenient_answer_colon" }, { grading_mode: "lenient_boxed" })).body
        .reward,
    ).toBe(0);
  });

  it("tries the row's own patterns first", async () => {
    const template_metadata = { output_regex: ["<ans>(.*?)</ans>"] };
    expect((await verify(raw`<ans>blue</ans> \boxed{A}`, { template_metadata })).body.extracted_answer).toBe(
      "B",
    );
    expect((await verify(raw`no tags \boxed{A}`, { template_metadata })).body.extracted_answer).toBe("A");
  });

  it.each([
    ["options", { options: [{ A: 1 }] }],
    ["uuid", { uuid: 5 }],
    ["grading_mode", { grading_mode: "lenient_answer_colon_md" }],
    ["output_regex", { template_metadata: { output_regex: 5 } }],
    ["output_regex", { template_metadata: { output_regex: "(B)(ox)?" } }],
  ])("refuses a row with a bad %s and names it", async (field, extra) => {
    const { status, text } = await verify("B", extra);
    expect(status).toBe(422);
    expect(text).toContain(field);
  });

  it("can be verified again without its session", async () => {
    const server = await createTestServer(definition);
    expect((await server.get("/reverify_mode")).body).toBe("stateless");
  });
});

describe("key metrics", () => {
  it("contain the reward, the accuracy over the repeats, the majority vote, and the share without an answer", () => {
    const rollout = (reward: number, extracted_answer: string | null) => ({ reward, extracted_answer });
    const tasks = [
      [rollout(1, "B"), rollout(0, "A")],
      [rollout(0, null), rollout(1, "B")],
    ];
    const metrics = { "mean/reward": 0.5, "mean/other": 3, ...choiceMetrics.compute?.(tasks) };
    expect(choiceMetrics.key?.(metrics)).toEqual({
      "mean/reward": 0.5,
      "pass@1[avg-of-2]/accuracy": 50,
      "pass@1[avg-of-2]/no_answer": 25,
      "pass@2/no_answer": 50,
      "majority@2/accuracy": 75,
      "pass@1/accuracy": 50,
    });
  });
});

describe("hostile answers", () => {
  const size = 1_000_000;
  it.each([
    ["open boxes", raw`\boxed{`.repeat(size / 7)],
    ["nested braces", raw`\boxed{` + "{".repeat(size) + "}".repeat(size)],
    ["answer lines", "Answer:  \t".repeat(size / 10)],
    ["emphasis", "*_".repeat(size / 2)],
    ["spaces", `answer${" ".repeat(size)}`],
    ["choices", `Answer: ${"A or B ".repeat(size / 7)}`],
    ["lone surrogates", "\ud800".repeat(size)],
    ["five megabytes", "word ".repeat(size)],
  ])("%s", async (_name, text) => {
    for (const grading_mode of ["lenient_boxed", "lenient_answer_colon", "lenient_answer_colon_md"]) {
      const { status, body } = await verify(text, {}, { grading_mode });
      expect(status).toBe(200);
      expect(body.reward).toBe(0);
    }
  });
});
