import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../base/python/json/json-object.ts";
import { modelResponse } from "../hosting/response-items.ts";
import { createTestServer } from "../hosting/test-server.ts";
import { defineGymnasiumServer, defineResourcesServer } from "./define-resources.ts";

const response = modelResponse();
const body = { responses_create_params: { input: "Go." }, response };

const verified = async (result: unknown) => {
  const definition = defineResourcesServer({ verify: () => result as JsonObject & { reward: number } });
  const server = await createTestServer(definition, { name: "kiln" });
  return server.post("/verify", body);
};

describe("the result of a verifier", () => {
  it.each([
    [{}, "no reward"],
    [{ reward: "1" }, 'the reward "1"'],
    [{ reward: null }, "the reward null"],
    [{ reward: 1n }, "the reward 1"],
    [{ reward: [1] }, "the reward a list"],
    [undefined, "returned nothing; it must return an object"],
    [1, "returned 1; it must return an object"],
  ])("fails the rollout permanently: case %#", async (result, told) => {
    const { status, body: answer } = await verified(result);
    expect(status).toBe(500);
    expect(answer.error).toMatchObject({ class: "verifier_error", stage: "verify", retryable: false });
    expect(answer.detail).toContain("kiln: verify returned");
    expect(answer.detail).toContain(told);
  });

  it.each([[Number.NaN], [Number.POSITIVE_INFINITY]])("sends %d as null", async (reward) => {
    expect(await verified({ reward, seen: 1 })).toMatchObject({
      status: 200,
      body: { reward: null, seen: 1 },
    });
  });

  it.each([
    [0.5, 0.5],
    [-3, -3],
    [true, 1],
    [false, 0],
  ])("accepts %j", async (reward, sent) => {
    expect(await verified({ reward })).toMatchObject({ status: 200, body: { reward: sent } });
  });

  it("accepts a boolean reward, also in its type", async () => {
    const definition = defineResourcesServer({
      verify: ({ response: answer }) => ({ reward: answer.model === "test" }),
    });
    const server = await createTestServer(definition, { name: "kiln" });
    expect((await server.post("/verify", body)).body.reward).toBe(1);
  });

  it("masks a sample at the top level and in the field for NeMo RL", async () => {
    const { body: answer } = await verified({ reward: 1, mask_sample: true, instance_config: { id: 7 } });
    expect(answer).toMatchObject({ mask_sample: true, instance_config: { id: 7, mask_sample: true } });
    expect((await verified({ reward: 1 })).body).not.toHaveProperty("instance_config");
  });

  it("needs no score if it reports a failure", async () => {
    const { status, body: answer } = await verified({ _ng_failure_class: "skipped" });
    expect(status).toBe(200);
    expect(answer).toMatchObject({ _ng_failure_class: "skipped" });
    expect(answer).not.toHaveProperty("reward");
  });
});

it("rejects a step reward that is not a number", async () => {
  const stepped = async (reward: unknown) => {
    const definition = defineGymnasiumServer({
      reset: () => ({ session: {} }),
      step: () => ({ reward: reward as number }),
    });
    const server = await createTestServer(definition, { name: "kiln" });
    await server.post("/reset", body);
    return server.post("/step", body);
  };
  expect((await stepped(Number.NaN)).body.detail).toContain("kiln: step returned the reward NaN");
  expect((await stepped("1")).status).toBe(500);
  expect((await stepped(undefined)).body.reward).toBe(0);
  expect((await stepped(2)).body.reward).toBe(2);
});
