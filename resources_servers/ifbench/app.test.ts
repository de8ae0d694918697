import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = {
  id: 1,
  instruction_id_list: ["format:no_whitespace", "count:numbers"],
  kwargs: [{}, { N: 1, spare: null }],
  prompt: "p",
};

async function verify(fields: object, ...output: Parameters<typeof verifyBody>[1][]) {
  const server = await createTestServer(definition);
  return server.verify(verifyBody({ ...row, ...fields }, ...output));
}

describe("ifbench", () => {
  it.each([
    [{}, "all1", 1, 1],
    [{}, "a 1", 0.5, 0.5],
    [{ grading_mode: "binary" }, "a 1", 0, 0],
    [{}, "Sure thing\nall1", 0.5, 1],
    [{}, "*all* 1\nx", 0.5, 1],
    [{ kwargs: [{}] }, "all", 1, 1],
    [{ kwargs: [] }, "all", 0, 0],
    [{ kwargs: [], grading_mode: "binary" }, "all", 1, 1],
    [{ kwargs: [] }, " ", 0, 0],
    [{ kwargs: [null, { N: 1, other: 2 }] }, "a1", 0.5, 0.5],
    [{ instruction_id_list: ["toString", "bogus"] }, "a1", 0, 0],
  ])("%j on %j earns %d, leniently %d", async (fields, text, reward, reward_loose) => {
    expect((await verify(fields, messageItem(text))).body).toMatchObject({ reward, reward_loose });
  });

  it("treats a refusal and an empty answer as following nothing", async () => {
    const refusal = { ...messageItem(), content: [{ type: "refusal", refusal: "no" }] };
    for (const output of [[refusal], [messageItem("")], []]) {
      expect((await verify({}, ...output)).body).toMatchObject({
        reward: 0,
        follow_instruction_list: [false, false],
        follow_instruction_list_loose: [false, false],
      });
    }
  });

  it("names the field of a malformed row", async () => {
    for (const [fields, field] of [
      [{ kwargs: 3 }, "kwargs"],
      [{ grading_mode: "x" }, "grading_mode"],
      [{ instruction_id_list: ["words:start_verb"] }, "tagger"],
    ] as const) {
      const { status, text } = await verify(fields, messageItem("x"));
      expect(status).toBe(422);
      expect(text).toContain(field);
    }
  });
});
