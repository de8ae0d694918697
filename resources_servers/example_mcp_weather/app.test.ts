import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const row = (city?: unknown) => (city === undefined ? {} : { verifier_metadata: { expected_city: city } });

it("rewards a rollout that called the tool and repeats its output, ignoring case", async () => {
  const server = await createTestServer(definition);
  await server.seed(row("Straße"));
  const { body } = await server.tool("get_weather", { city: "STRASSE" });
  expect(body).toEqual({ weather: "The weather in STRASSE is sunny and 72 F." });
  const said = messageItem("It says: the weather in strasse is SUNNY and 72 f.");
  expect((await server.verify(verifyBody(row("Straße"), said))).body).toMatchObject({
    reward: 1,
    tool_call_seen: true,
    final_response_mentions_weather: true,
    verifier_metadata: { expected_city: "Straße" },
  });
  await server.close();
});

it("requires both conditions, clears the state on seeding, and expects Paris by default", async () => {
  const server = await createTestServer(definition);
  await server.tool("get_weather", { city: "Paris" });
  const said = messageItem("The weather in Paris is sunny and 72 F.");
  expect((await server.verify(verifyBody(row(), said))).body.reward).toBe(1);
  expect((await server.verify(verifyBody(row(), messageItem("sunny")))).body.reward).toBe(0);
  await server.seed(row());
  expect((await server.verify(verifyBody(row(), said))).body).toMatchObject({
    reward: 0,
    tool_call_seen: false,
  });
  await server.tool("get_weather", { city: "Paris" });
  for (const city of [5, null])
    expect((await server.verify(verifyBody(row(city), said))).body.reward).toBe(0);
  await server.close();
});

it("returns a token for MCP clients if MCP is enabled", async () => {
  const server = await createTestServer(definition, { config: { expose_tools_over_mcp: true } });
  expect((await server.seed(row())).body.mcp).toMatchObject({ server_name: "test_server", url_path: "/mcp" });
  await server.close();
});
