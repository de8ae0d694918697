import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

async function verify(text: string, row: Record<string, unknown>) {
  const server = await createTestServer(definition);
  return server.verify(verifyBody({ length: 4096, ...row }, messageItem(text)));
}

describe("ruler", () => {
  const outputs = ["Alpha", "beta", "gamma"];

  it.each([
    ["vt", "ALPHA and Beta", 2 / 3],
    ["vt", "alphabeta gamma", 1],
    ["niah_single_1", "none", 0],
    ["qa_1", "It is beta.", 1],
    ["qa_2", "none", 0],
  ])("%s: rewards %j with %d", async (subset, text, reward) => {
    const { body } = await verify(text, { outputs, subset });
    expect(body.reward).toBeCloseTo(reward, 15);
    expect(body[subset]).toBe(body.reward);
  });

  it("gives the other subsets no score, and an unknown subset no field", async () => {
    expect((await verify("beta", { outputs, subset: "cwe" })).body).toMatchObject({ cwe: 1 / 3, vt: null });
    const { body } = await verify("beta", { outputs, subset: "mine" });
    expect(body).toMatchObject({ reward: 1 / 3, vt: null });
    expect(body).not.toHaveProperty("mine");
  });

  it.each([
    ["outputs", { outputs: [], subset: "vt" }],
    ["subset", { outputs, subset: "outputs" }],
    ["length", { outputs, subset: "vt", length: "long" }],
  ])("refuses a row with bad %s", async (field, row) => {
    const { status, text } = await verify("beta", row);
    expect(status).toBe(422);
    expect(text).toContain(field);
  });
});
