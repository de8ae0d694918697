import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = { expected_answer: "k9Xabcd", random_string_to_prepend: "k9X", n_needles: 2, n_tokens: 100 };

async function verify(text: string, extra: Record<string, unknown> = {}) {
  const server = await createTestServer(definition);
  return server.verify(verifyBody({ ...row, ...extra }, messageItem(text)));
}

describe("mrcr", () => {
  it.each([
    ["k9Xabcd", 1],
    [" k9Xab ", 2 / 3],
    ["k9Xxyz", 0],
    ["abcd", 0],
    ["", 0],
  ])("rewards %j with %d", async (text, reward) => {
    const { body } = await verify(text);
    expect(body).toMatchObject({ ...row, prefix_matched: text.includes("k9X") });
    expect(body.reward).toBeCloseTo(reward, 15);
    expect(body["seq_match_ratio"]).toBe(body.reward);
  });

  it("ignores frequent characters of long answers like Python", async () => {
    const expected = "ab".repeat(150);
    expect((await verify(`k9X${expected.slice(1)}`, { expected_answer: `k9X${expected}` })).body.reward).toBe(
      0,
    );
  });

  it.each(["random_string_to_prepend", "n_needles", "n_tokens"])(
    "refuses a row without %s",
    async (field) => {
      const { status, text } = await verify("x", { [field]: null });
      expect(status).toBe(422);
      expect(text).toContain(field);
    },
  );
});
