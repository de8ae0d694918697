import { createTestServer, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const rollout = {
  responses_create_params: { input: "Count to seven." },
  response: modelResponse(),
};

it("keeps one counter per session", async () => {
  const server = await createTestServer(definition);
  const [ada, bob] = [server.newJar(), server.newJar()];
  await server.seed({ initial_count: 3 }, ada);
  await server.seed({ initial_count: 10 }, bob);
  expect((await server.tool("increment_counter", { count: 4 }, ada)).body).toEqual({ success: true });
  expect((await server.tool("get_counter_value", undefined, ada)).body).toEqual({ count: 7 });
  expect((await server.tool("get_counter_value", undefined, bob)).body).toEqual({ count: 10 });
  expect((await server.verify({ ...rollout, expected_count: 7 }, ada)).body.reward).toBe(1);
  expect((await server.verify({ ...rollout, expected_count: 7 }, bob)).body.reward).toBe(0);
  await server.close();
});

it("keeps the counter on a second seed, and starts at 0 without a seed", async () => {
  const server = await createTestServer(definition);
  await server.seed({ initial_count: 3 });
  await server.seed({ initial_count: 9 });
  expect((await server.tool("get_counter_value")).body).toEqual({ count: 3 });
  const stranger = server.newJar();
  expect((await server.verify({ ...rollout, expected_count: 0 }, stranger)).body.reward).toBe(0);
  await server.tool("increment_counter", { count: "2" }, stranger);
  expect((await server.verify({ ...rollout, expected_count: 2 }, stranger)).body.reward).toBe(1);
  await server.close();
});

it("names the field of a malformed call", async () => {
  const server = await createTestServer(definition);
  const reply = await server.tool("increment_counter", { count: "many" });
  expect(reply.status).toBe(422);
  expect(reply.body.detail[0].loc).toEqual(["body", "count"]);
  await server.close();
});
