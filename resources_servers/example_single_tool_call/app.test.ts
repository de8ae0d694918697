import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

it("returns the weather and rewards every rollout", async () => {
  const server = await createTestServer(definition);
  expect((await server.tool("get_weather", { city: "Zürich" })).body).toEqual({
    city: "Zürich",
    weather_description: "The weather in Zürich is cold.",
  });
  expect((await server.verify(verifyBody({}, messageItem("cold")))).body.reward).toBe(1);
  expect((await server.get("/reverify_mode")).body).toBe("stateless");
  await server.close();
});

it.each([{}, { city: 5 }, { city: null }])("refuses %j", async (input) => {
  const server = await createTestServer(definition);
  const reply = await server.tool("get_weather", input);
  expect(reply.status).toBe(422);
  expect(reply.body.detail[0].loc).toEqual(["body", "city"]);
  await server.close();
});
