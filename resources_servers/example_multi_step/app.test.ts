import { createTestServer, functionCallItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = {
  id: 0,
  expected_synonym_values: [3, 5],
  expected_synonyms: ["a", "b"],
  minefield_label: "fast",
  minefield_label_value: 430,
};
const submit = (values: unknown) => functionCallItem("extract_synonym_values", { synonym_values: values });

describe("verify", () => {
  it.each([
    [[3, 5], { reward: 1, accuracy: true, set_overlap: 1, order_instruction_following_failure: false }],
    [[5, 3], { reward: 0, accuracy: false, set_overlap: 1, order_instruction_following_failure: true }],
    [[3], { reward: 0, set_overlap: 0.5, parsed_synonym_values: [3] }],
    [["3", "5"], { reward: 0, set_overlap: 0, parsed_synonym_values: [3, 5] }],
    [["3.0", "1_000"], { reward: 0, set_overlap: 0, parsed_synonym_values: [3, 1000] }],
    [[3, 430], { reward: 0, original_term_minefield_hit: true }],
    [[3.5], { reward: 0, parsed_synonym_values: [] }],
    ["all of them", { reward: 0, parsed_synonym_values: [] }],
  ])("scores %j", async (values, expected) => {
    const server = await createTestServer(definition);
    const { status, body } = await server.verify(verifyBody(row, submit(values)));
    expect(status).toBe(200);
    expect(body).toMatchObject(expected);
    await server.close();
  });

  it("scores the last submission, and gives 0 without one or if it is not JSON", async () => {
    const server = await createTestServer(definition);
    expect((await server.verify(verifyBody(row, submit([1]), submit([3, 5])))).body.reward).toBe(1);
    expect((await server.verify(verifyBody(row))).body.reward).toBe(0);
    const odd = functionCallItem("extract_synonym_values", '{"note": NaN, "synonym_values": [3.0, 5]}');
    expect((await server.verify(verifyBody(row, odd))).body.reward).toBe(1);
    const huge = functionCallItem("extract_synonym_values", '{"synonym_values": [100000000000000000000]}');
    expect((await server.verify(verifyBody(row, huge))).body.parsed_synonym_values).toEqual([1e20]);
    const broken = functionCallItem("extract_synonym_values", "{");
    expect((await server.verify(verifyBody(row, broken))).body).toMatchObject({ reward: 0 });
    await server.close();
  });

  it("names a missing field of the row", async () => {
    const server = await createTestServer(definition);
    const { expected_synonyms: _left, ...incomplete } = row;
    const reply = await server.verify(verifyBody(incomplete));
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(["body", "expected_synonyms"]);
    await server.close();
  });
});

it("computes the value of a synonym from its code points", async () => {
  const server = await createTestServer(definition);
  expect((await server.tool("get_synonym_value", { synonym: "東京" })).body).toEqual({
    synonym_value: 46621,
  });
  expect((await server.tool("extract_synonym_values", { synonym_values: [1] })).body).toEqual({
    success: true,
  });
  await server.close();
});
