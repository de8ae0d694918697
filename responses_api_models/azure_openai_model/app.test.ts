import { createTestServer, MockModelEndpoint } from "nemo-gym/testing";
import { afterEach, expect, it } from "vitest";
import definition from "./app.ts";
import { deploymentBase } from "./deployment-url.ts";

let endpoint: MockModelEndpoint;
afterEach(() => endpoint?.close());

it.each([
  ["https://r.openai.azure.com", "https://r.openai.azure.com/openai/deployments/my%20model"],
  ["https://r.openai.azure.com/openai/", "https://r.openai.azure.com/openai/deployments/my%20model"],
  ["https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1"],
  ["https://gateway/openai/deployments/other", "https://gateway/openai/deployments/other"],
])("finds the deployment under %s", (url, base) => {
  expect(deploymentBase(url, "my model")).toBe(base);
});

it("calls the deployment with the Azure header and the API version", async () => {
  endpoint = await new MockModelEndpoint({ answer: () => ({ text: "<think>hm</think>Yes." }) }).start();
  const server = await createTestServer(definition, {
    config: {
      openai_base_url: endpoint.origin,
      openai_api_key: "azure-key-123",
      openai_model: "gpt-4.1",
      default_query: { "api-version": "2025-01-01-preview" },
      num_concurrent_requests: 2,
    },
  });
  const { status, body } = await server.post("/v1/responses", {
    model: "x",
    input: "hi",
    max_output_tokens: 4,
  });
  expect(status).toBe(200);
  expect(body.output.map((item: { type: string }) => item.type)).toEqual(["reasoning", "message"]);
  expect(body).toMatchObject({ model: "gpt-4.1", status: "completed", usage: { input_tokens: 10 } });
  // We set the time; the endpoint does not.
  expect(body.created_at).toBeGreaterThan(1_750_000_000);
  const [request] = endpoint.requests;
  expect(request?.path).toBe("/openai/deployments/gpt-4.1/chat/completions?api-version=2025-01-01-preview");
  expect(request?.headers["api-key"]).toBe("azure-key-123");
  expect(request?.headers.authorization).toBeUndefined();
  await Promise.all(Array.from({ length: 6 }, () => server.post("/v1/responses", { input: "hi" })));
  expect(endpoint.peak).toBeLessThanOrEqual(2);
});

it("requires an API version, except for the newer API", async () => {
  const config = { openai_api_key: "k", openai_model: "m", num_concurrent_requests: 1, default_query: {} };
  const start = (openai_base_url: string) =>
    createTestServer(definition, { config: { ...config, openai_base_url } });
  await expect(start("https://r.openai.azure.com")).rejects.toThrow("default_query.api-version: is required");
  await start("https://r.openai.azure.com/openai/v1/");
  for (const default_query of [null, { "api-version": null }]) {
    const given = { ...config, default_query, openai_base_url: "https://r.openai.azure.com/openai/v1" };
    await createTestServer(definition, { config: given });
    const old = { ...given, openai_base_url: "https://r.openai.azure.com" };
    await expect(createTestServer(definition, { config: old })).rejects.toThrow("api-version: is required");
  }
});
