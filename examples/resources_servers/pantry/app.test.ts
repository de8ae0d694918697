import { readFile } from "node:fs/promises";
import { createTestServer, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = { stock: { rice: 1 }, wanted: { rice: 3, salt: 1 } };

describe("pantry", () => {
  it("rewards a pantry that is as wanted", async () => {
    const server = await createTestServer(definition);
    await server.seed(row);
    expect((await server.tool("put", { item: "rice", count: 2 })).body).toEqual({ now: 3 });
    expect((await server.tool("put", { item: "salt", count: 1 })).body).toEqual({ now: 1 });
    const { body } = await server.verify(verifyBody(row));
    expect(body).toMatchObject({ reward: 1, moves: 2, final_stock: { rice: 3, salt: 1 } });
  });

  it("keeps rollouts apart", async () => {
    const server = await createTestServer(definition, { config: { partial_credit: true } });
    const [one, other] = [server.newJar(), server.newJar()];
    await server.seed(row, one);
    await server.seed(row, other);
    await server.tool("put", { item: "rice", count: 2 }, one);
    expect((await server.tool("list_pantry", {}, other)).body).toEqual({ rice: 1 });
    expect((await server.verify(verifyBody(row), one)).body.reward).toBe(0.5);
    expect((await server.verify(verifyBody(row), other)).body.reward).toBe(0);
  });

  it("answers a wrong call instead of failing", async () => {
    const server = await createTestServer(definition);
    await server.seed(row);
    expect((await server.tool("take", { item: "rice", count: 5 })).body).toEqual({ error: "only 1 of rice" });
    expect((await server.tool("take", { item: "rice" })).status).toBe(422);
  });

  it("names the field of a malformed row", async () => {
    const server = await createTestServer(definition);
    const { status, body } = await server.seed({ stock: { rice: -1 }, wanted: {} });
    expect([status, body.detail[0].loc]).toEqual([422, ["body", "stock", "rice"]]);
  });

  it("reports metrics of its own", async () => {
    const server = await createTestServer(definition);
    const rollout = { reward: 1, moves: 4, _ng_task_index: 0, _ng_rollout_index: 0, response: {} };
    const { body } = await server.post("/aggregate_metrics", { verify_responses: [rollout] });
    expect(body.agent_metrics.moves_when_solved).toBe(4);
  });

  it("accepts every example row", async () => {
    const server = await createTestServer(definition);
    const lines = (await readFile(new URL("data/example.jsonl", import.meta.url), "utf8")).trim().split("\n");
    for (const line of lines) expect((await server.seed(JSON.parse(line), server.newJar())).status).toBe(200);
    expect(lines).toHaveLength(5);
  });
});
