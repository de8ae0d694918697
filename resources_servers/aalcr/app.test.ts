import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = {
  document_category: "Legal",
  document_set_id: "d",
  question_id: 1,
  question: "Who pays?",
  answer: "The tenant",
  data_source_filenames: "f",
  data_source_urls: "u",
  input_tokens: 5,
  input_tokens_band: "80k-100k",
};
const official = {
  aa_lcr_version: "1.1",
  aa_lcr_dataset_revision: "9a77ef56b717057ade24ceab4d273712a0b4f19e",
  aa_lcr_judge_protocol: "official_v1_1",
};

async function verify(replies: (string | object)[], fields: object = {}, text = "The tenant pays") {
  const config = { judge_protocol: "aa_lcr_version" in fields ? "official_v1_1" : "legacy_v1_0" };
  const { server, calls, prompts } = await createJudgedServer(definition, import.meta.url, replies, config);
  const reply = await server.verify(verifyBody({ ...row, ...fields }, messageItem(text)));
  return { ...reply, calls, prompts };
}

describe("aalcr", () => {
  it.each([
    [" CORRECT\n", 1, false],
    ["INCORRECT", 0, false],
    ["CORRECT.", 0, true],
  ])("%j earns %d", async (reply, reward, invalid_judge_response) => {
    const { body, prompts } = await verify([reply]);
    expect(body).toMatchObject({
      reward,
      reward_80k_100k: reward,
      reward_lt_80k: null,
      invalid_judge_response,
    });
    for (const part of ["Who pays?", "The tenant", "The tenant pays"]) expect(prompts[0]).toContain(part);
  });

  it("asks nobody about an empty answer", async () => {
    const { body, calls } = await verify([], {}, " ");
    expect(body).toMatchObject({ reward: 0, invalid_model_response: true });
    expect(calls).toHaveLength(0);
  });

  it("reads the JSON verdicts of the official protocol", async () => {
    const { body, calls } = await verify(['{"verdict": "CORRECT"}'], official);
    expect(body).toMatchObject({ reward: 1, ...official });
    expect(calls[0]?.body["input"]).toMatchObject([{ role: "system" }, { role: "user" }]);
  });

  it.each([
    ["no answer", [], {}],
    ["a 429", [{ status: 429, body: "slow down" }], {}],
    ["an empty reply", [" "], {}],
    ["a word instead of JSON", ["CORRECT"], official],
    ["another key", ['{"verdict": "CORRECT", "why": "x"}'], official],
  ])("fails the rollout on %s", async (_name, replies, fields) => {
    const { body } = await verify(replies, fields);
    expect(body).toMatchObject({ reward: 0, _ng_failure_class: "judge_failed" });
  });

  it("refuses a row of another version, also before the model is called", async () => {
    const { server } = await createJudgedServer(definition, import.meta.url, [], {
      judge_protocol: "official_v1_1",
    });
    expect((await server.verify(verifyBody(row, messageItem("x")))).status).toBe(422);
    const { status, text } = await server.seed({ ...row, responses_create_params: { input: "?" } });
    expect(status).toBe(422);
    expect(text).toContain("aa_lcr_version");
  });

  it.each(["weird", undefined])("refuses the band %s", async (input_tokens_band) => {
    expect((await verify([], { input_tokens_band })).status).toBe(422);
  });
});
