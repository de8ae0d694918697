import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { equivalenceScore } from "./score.ts";

describe("equivalenceScore", () => {
  it("ignores case and spacing", () => {
    expect(equivalenceScore(" One\n\ttwo ", "one TWO", "exact")).toBe(1);
    expect(equivalenceScore("one", "two", "exact")).toBe(0);
    expect(equivalenceScore("", "", "seq_match")).toBe(1);
  });

  it("measures how much text is in the same order", () => {
    expect(equivalenceScore("abcd", "bcde", "seq_match")).toBe(0.75);
    expect(equivalenceScore("abcd", "bcde", "weighted_seq_match")).toBeCloseTo(0.75, 12);
    expect(
      equivalenceScore("right start, wrong end", "right start, other", "weighted_seq_match"),
    ).toBeGreaterThan(equivalenceScore("right start, wrong end", "right start, other", "seq_match"));
  });

  it("counts code points in the prefix", () => {
    expect(equivalenceScore("😀".repeat(10), "😀".repeat(10), "weighted_seq_match")).toBe(1);
  });

  it("scores texts that are slow to compare as 0", () => {
    expect(equivalenceScore("a".repeat(5_000_000), "a".repeat(199), "weighted_seq_match")).toBeLessThan(0.2);
  });
});

describe("equivalence_rule", () => {
  it("reports the score of the configured rule and keeps the row", async () => {
    const server = await createTestServer(definition, { config: { grading_rule: "seq_match" } });
    const row = { expected_answer: "bcde", question: "?", source: "test" };
    const { body } = await server.verify(verifyBody(row, messageItem("ab", "cd")));
    expect(body).toMatchObject({ ...row, reward: 0.75, equivalence_score: 0.75 });
  });

  it("refuses a row without an answer and a config with an unknown rule", async () => {
    const server = await createTestServer(definition);
    expect((await server.verify(verifyBody({}, messageItem("a")))).text).toContain("expected_answer");
    await expect(createTestServer(definition, { config: { grading_rule: "fuzzy" } })).rejects.toThrow(
      "grading_rule",
    );
  });
});
