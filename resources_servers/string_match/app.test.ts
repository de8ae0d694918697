import { createTestServer, growthOf, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { type ExtractionMode, extractAnswer } from "./extract.ts";

const raw = String.raw;

describe("extractAnswer", () => {
  it.each<[ExtractionMode, string, string | undefined]>([
    ["boxed", raw`\boxed{ \text{ a } } \boxed{b`, "a"],
    ["boxed", "a", undefined],
    ["final_answer", "Answer: a\nFinal Answer：b. ", "b"],
    ["final_answer", "Answer: 3...", "3"],
    ["final_answer", raw`so \boxed{c}`, "c"],
    ["final_answer", "none", undefined],
    ["last_line", "a\n b \n\n", "b"],
    ["last_line", "a\u2028b", "b"],
    ["full_response", " a\nb ", "a\nb"],
    ["full_response", " ", undefined],
  ])("%s of %j", (mode, text, answer) => {
    expect(extractAnswer(text, mode)).toBe(answer);
  });

  it("takes linear time", async () => {
    for (const unit of [raw`\boxed{`, "final ", " "]) {
      const extract = (size: number) =>
        expect(extractAnswer(`answer${unit.repeat(size)}`, "final_answer")).toBeUndefined();
      expect(await growthOf(extract, 10_000)).toBeLessThan(1.6);
    }
  });
});

describe("string_match", () => {
  async function verify(text: string, row: Record<string, unknown>) {
    const server = await createTestServer(definition);
    return server.verify(verifyBody(row, messageItem(text)));
  }

  it("compares the extracted answer", async () => {
    expect((await verify("Answer: New York.", { expected_answer: "NY" })).body).toMatchObject({
      reward: 1,
      expected_answer: "NY",
      extracted_answer: "New York",
    });
  });

  it("gives 0 without an answer or an expected answer", async () => {
    expect((await verify("hm", { expected_answer: "NY" })).body).toMatchObject({
      reward: 0,
      extracted_answer: null,
    });
    expect((await verify("Answer: x", { expected_answer: "" })).body.reward).toBe(0);
  });

  it("reads case_sensitive leniently and refuses bad rows", async () => {
    const row = { expected_answer: "k", extraction_mode: "full_response", case_sensitive: "yes" };
    expect((await verify("K", row)).body.reward).toBe(0);
    expect((await verify("K", {})).status).toBe(422);
    expect((await verify("K", { expected_answer: "k", extraction_mode: "first_line" })).text).toContain(
      "extraction_mode",
    );
  });
});
