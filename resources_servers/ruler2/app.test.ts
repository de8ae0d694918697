import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { ruler2Metrics } from "./metrics.ts";

async function verify(text: string, row: Record<string, unknown>) {
  const server = await createTestServer(definition);
  return server.verify(verifyBody(row, messageItem(text)));
}

describe("ruler2", () => {
  const document = "Document 12: alpha\nbeta\n\ngamma";

  it.each<[string, unknown, string, number]>([
    ["all", ["alpha", "delta"], document, 0.5],
    ["all", ["one two three"], "one two four", 2 / 3],
    ["all", "ALPHA", "alpha", 1],
    ["all", 2.5, "It is 2.5.", 1],
    ["all", [], "x", 0],
    ["part", ["alpha", "gamma"], document, 1],
    ["part", ["alpha"], document, 0],
    ["part", ["alpha"], "Document 1: alpha", 1],
    ["2steps", ["alpha", "gamma"], document, 0.5],
  ])("%s: rewards %j in %j with %d", async (match_type, expected_answer, text, reward) => {
    const { body } = await verify(text, { expected_answer, match_type });
    expect(body.reward).toBeCloseTo(reward, 15);
    expect(body).not.toHaveProperty("expected_answer");
  });

  it.each([
    ["The final answer is (b)\nso The final answer is C.", "C"],
    ["\\boxed{a}", "A"],
    ["\\boxed{none}\n**Answer**: b", "B"],
    ["\\boxed{Ｂ}", "B"],
    ["perhaps B", null],
  ])("reads the letter of %j", async (text, letter) => {
    const { body } = await verify(text, { expected_answer: "B ", eval_type: "multichoice" });
    expect(body).toMatchObject({ reward: letter === "B" ? 1 : 0, extracted_answer: letter });
  });

  it("averages a complete suite", () => {
    const tasks = ["mk_niah", "mv_niah", "qa"].flatMap((kind) =>
      ["basic", "easy", "medium", "hard"].map((level) => [
        { task: `${kind}_${level}`, reward: level === "hard" ? 0 : 1 },
      ]),
    );
    const name = "ruler2_suite_avg/pass@1/accuracy";
    const metrics = ruler2Metrics.compute?.(tasks) ?? {};
    expect(metrics[name]).toBe(75);
    expect(ruler2Metrics.key?.(metrics)).toHaveProperty([name], 75);
    expect(ruler2Metrics.compute?.(tasks.slice(1))).not.toHaveProperty([name]);
  });

  it.each(["expected_answer", "match_type"])("refuses a row with bad %s", async (field) => {
    const row = {
      expected_answer: "a",
      match_type: "all",
      [field]: field === "match_type" ? "some" : undefined,
    };
    const { status, text } = await verify("a", row);
    expect(status).toBe(422);
    expect(text).toContain(field);
  });
});
