import { createTestServer, growthOf, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { findLetter } from "./find-letter.ts";

const raw = String.raw;

describe("findLetter", () => {
  it.each([
    [raw`\boxed{B}`, "B"],
    [raw`\boxed{\text{B}}`, "B"],
    [raw`\boxed{A} \boxed{the answer is C or D}`, "D"],
    [raw`\boxed{É}`, "É"],
    [raw`\boxed{AB} Answer: c`, "C"],
    [raw`\boxed{b}`, undefined],
    [raw`\boxed{B`, undefined],
    ["**Answer**: *b*", "B"],
    ["Answer: B1", undefined],
    ["Answer: A ... answer:  c)", "C"],
    ["nothing", undefined],
  ])("%s", (text, letter) => {
    expect(findLetter(text)).toBe(letter);
  });

  it("takes linear time", async () => {
    for (const unit of [raw`\boxed{`, "*_", " "]) {
      const find = (size: number) => expect(findLetter(`Answer${unit.repeat(size)}`)).toBeUndefined();
      expect(await growthOf(find, 10_000)).toBeLessThan(1.6);
    }
  });
});

describe("gpqa_diamond", () => {
  const row = { options: [{ A: "x" }, { B: "y" }], expected_answer: "b", grading_mode: "lenient_boxed" };

  async function verify(text: string, extra: Record<string, unknown> = {}) {
    const server = await createTestServer(definition);
    return server.verify(verifyBody({ ...row, ...extra }, messageItem(text)));
  }

  it("grades the letter in every grading mode", async () => {
    expect((await verify("Answer: B")).body).toMatchObject({
      reward: 1,
      extracted_answer: "B",
      expected_answer: "B",
    });
  });

  it("stops at a boxed letter that is not an option", async () => {
    expect((await verify(raw`\boxed{Z} Answer: B`)).body).toMatchObject({
      reward: 0,
      extracted_answer: null,
    });
    expect((await verify(raw`\boxed{Z}`, { options: null, expected_answer: "Z" })).body.reward).toBe(1);
  });

  it("accepts one pattern in the row, but not a list", async () => {
    expect(
      (await verify("((a)) ((b))", { template_metadata: { output_regex: raw`\(\((.)\)\)` } })).body.reward,
    ).toBe(1);
    expect((await verify("b", { template_metadata: { output_regex: ["(b)"] } })).status).toBe(422);
  });
});
