import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const row = { follow_ups: ["And its moon?"], expected_answer: "Luna" };

it("asks the follow-up questions and grades the last answer", async () => {
  const server = await createTestServer(definition);
  const { response: _none, ...start } = verifyBody(row);
  expect((await server.post("/reset", start)).body).toEqual({ observation: null, info: {} });
  expect((await server.post("/step", verifyBody(row, messageItem("Earth")))).body).toEqual({
    observation: "And its moon?",
    reward: 0,
    terminated: false,
    truncated: false,
    info: {},
  });
  const end = await server.post("/step", verifyBody(row, messageItem("It is called luna.")));
  expect(end.body).toMatchObject({ observation: null, reward: 1, terminated: true });
  await server.close();
});

it("gives 0 for a wrong answer and for a row without one, and refuses follow-ups that are not strings", async () => {
  const server = await createTestServer(definition);
  const step = (own: object) =>
    server.post("/step", verifyBody({ ...own }, messageItem("Mars")), server.newJar());
  expect((await step({ follow_ups: [], expected_answer: "Luna" })).body).toMatchObject({
    reward: 0,
    terminated: true,
  });
  expect((await step({ follow_ups: [], expected_answer: null })).body.reward).toBe(0);
  for (const follow_ups of [[5], null, 5, { a: 1 }]) expect((await step({ follow_ups })).status).toBe(422);
  expect((await step({ follow_ups: ["And?", 5] })).body.observation).toBe("And?");
  expect((await step({ follow_ups: {} })).body.terminated).toBe(true);
  expect((await step({ follow_ups: [null] })).body).toMatchObject({ observation: null, terminated: false });
  expect((await server.post("/verify", {})).status).toBe(404);
  await server.close();
});
