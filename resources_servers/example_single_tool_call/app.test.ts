import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

it("returns the weather and rewards rollouts with a call of the tool", async () => {
  const server = await createTestServer(definition);
  expect((await server.tool("get_weather", { city: "Zürich" })).body).toEqual({
    city: "Zürich",
    weather_description: "The weather in Zürich is cold.",
  });
  const reward = async (...items: Parameters<typeof verifyBody>[1][]) =>
    (await server.verify(verifyBody({}, ...items))).body.reward;
  expect(await reward(functionCallItem("get_weather", { city: "Zürich" }), messageItem("cold"))).toBe(1);
  expect(await reward(functionCallItem("get_weather", {}))).toBe(1);
  expect(await reward(functionCallItem("get_time", {}), messageItem("cold"))).toBe(0);
  expect(await reward(messageItem("get_weather"))).toBe(0);
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
