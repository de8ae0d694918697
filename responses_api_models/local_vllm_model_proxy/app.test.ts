import { createTestServer, VllmDouble } from "nemo-gym/testing";
import { expect, it, onTestFinished } from "vitest";
import definition from "./app.ts";

it("waits for a server that starts, but not for a server without an engine", async () => {
  let asked = 0;
  const double = await new VllmDouble().start();
  onTestFinished(() => double.close());
  const config = {
    model_server: { type: "responses_api_models", name: "late" },
    return_token_id_information: false,
    uses_reasoning_parser: true,
    startup_timeout_seconds: 5,
  };
  const late = () =>
    ++asked < 3
      ? { status: 503, body: "starting" }
      : { status: 200, body: { base_url: [double.baseUrl], api_key: "dummy", model: double.model } };
  const proxy = await createTestServer(definition, { config, servers: { late } });
  expect((await proxy.post("/v1/responses", { input: "Hello" })).status).toBe(200);
  const without = () => ({ status: 404, body: { detail: "Not Found" } });
  await expect(createTestServer(definition, { config, servers: { late: without } })).rejects.toThrow(
    "has no vLLM engine",
  );
});
