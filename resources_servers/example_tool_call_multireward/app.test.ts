import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = {
  responses_create_params: {
    input: "Weather in Lima?",
    tools: [
      {
        type: "function",
        name: "get_weather",
        strict: true,
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    ],
  },
  expected_call: { name: "get_weather", arguments: { city: "Lima" } },
};
const call = (args: unknown) => functionCallItem("get_weather", args);

describe("verify", () => {
  it.each([
    ["the expected call alone", [call({ city: "Lima" })], [1, 1, 1]],
    ["a further argument", [call({ city: "Lima", unit: "C" })], [1, 1, 1]],
    ["another city", [call({ city: "Oslo" })], [0, 1, 1]],
    ["a missing argument", [call({})], [0, 0, 1]],
    ["arguments that are not JSON", [call("{city: Lima}")], [0, 0, 1]],
    ["a number JSON does not have", [call('{"city": "Lima", "heat": NaN}')], [1, 1, 1]],
    ["a call with a message", [call({ city: "Lima" }), messageItem("")], [1, 1, 0]],
    ["two calls", [call({ city: "Oslo" }), call({ city: "Lima" })], [1, 1, 0]],
    ["no call", [messageItem("sunny")], [0, 0, 0]],
  ])("scores %s", async (_, output, [correctness = 0, schemaValid = 0, format = 0]) => {
    const server = await createTestServer(definition);
    const { body } = await server.verify(verifyBody(row, ...output));
    expect(body).toMatchObject({
      reward: correctness + schemaValid + format,
      reward_components: { correctness, schema_valid: schemaValid, format },
      correctness,
    });
    await server.close();
  });

  it("expects no arguments if the value in the row is empty", async () => {
    const server = await createTestServer(definition);
    for (const empty of [[], "", 0, null]) {
      const bare = { ...row, expected_call: { name: "get_weather", arguments: empty } };
      expect((await server.verify(verifyBody(bare, call({})))).body.correctness).toBe(1);
    }
    await server.close();
  });

  it("refuses a row whose expected arguments are not an object", async () => {
    const server = await createTestServer(definition);
    const bad = { ...row, expected_call: { name: "get_weather", arguments: [1] } };
    expect((await server.verify(verifyBody(bad, call({ city: "Lima" })))).status).toBe(422);
    await server.close();
  });
});
