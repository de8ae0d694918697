import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const row = {
  first_observation: "hi",
  script: [
    { observation: "a", reward: 0.5 },
    { reward: 1, terminated: true },
  ],
};
const { response: _none, ...start } = verifyBody(row);
const step = verifyBody(row, messageItem("one", "two"));

it("plays the script, then forgets the episode", async () => {
  const server = await createTestServer(definition);
  expect((await server.post("/reset", start)).body).toEqual({
    observation: "hi",
    info: { metadata_keys: ["first_observation", "script"] },
  });
  const replies = [];
  for (let count = 0; count < 3; count++) replies.push((await server.post("/step", step)).body);
  expect(replies).toMatchObject([
    { observation: "a", reward: 0.5, terminated: false, info: { text: "onetwo", had_state: true, n: 1 } },
    { observation: null, reward: 1, terminated: true, info: { n: 2 } },
    { observation: null, reward: 0, terminated: false, info: { had_state: false, n: 0 } },
  ]);
  await server.close();
});

it("keeps sessions apart", async () => {
  const server = await createTestServer(definition);
  const [one, other] = [server.newJar(), server.newJar()];
  await server.post("/reset", start, one);
  await server.post("/reset", start, other);
  await server.post("/step", step, one);
  expect((await server.post("/step", step, other)).body).toMatchObject({ observation: "a", info: { n: 1 } });
  await server.close();
});

it("answers calls", async () => {
  const server = await createTestServer(definition);
  await server.post("/reset", start);
  const { body } = await server.post(
    "/step",
    verifyBody(row, functionCallItem("look", { at: "é" }, "call_1")),
  );
  const output = JSON.stringify({ name: "look", args: JSON.stringify({ at: "é" }) });
  expect(JSON.parse(body.info.tool_outputs[0].output)).toEqual(JSON.parse(output));
  await server.close();
});

it("has no verifier and no sessions to seed", async () => {
  const server = await createTestServer(definition);
  expect((await server.post("/verify", step)).status).toBe(404);
  expect((await server.post("/seed_session", start)).status).toBe(404);
  await server.close();
});
