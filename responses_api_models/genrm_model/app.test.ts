import { createTestServer, VllmDouble } from "nemo-gym/testing";
import { afterEach, expect, it } from "vitest";
import definition from "./app.ts";

let double: VllmDouble;
afterEach(() => double?.close());

async function start(config: Record<string, unknown> = {}) {
  double = await new VllmDouble({ answer: () => ({ text: '{"score_1": 4, "score_2": 2}' }) }).start();
  return createTestServer(definition, {
    config: {
      base_url: double.baseUrl,
      model: double.model,
      return_token_id_information: false,
      uses_reasoning_parser: true,
      vllm_serve_kwargs: {},
      vllm_serve_env_vars: {},
      ...config,
    },
  });
}

const metadata = { response_2: "B", response_1: "A", principle: "Be kind.", other: "x" };

it("sends the compared responses with their own roles, in order", async () => {
  const server = await start();
  const { body } = await server.post("/v1/responses", { input: [{ role: "user", content: "Q" }], metadata });
  expect(body.output[0].content[0].text).toContain("score_1");
  expect(double.requests[0]?.body["messages"]).toEqual([
    { role: "user", content: "Q" },
    { role: "principle", content: "Be kind." },
    { role: "response_1", content: "A" },
    { role: "response_2", content: "B" },
  ]);
  expect(double.requests[0]?.body).not.toHaveProperty("metadata");
});

it("omits the principle for models without that role", async () => {
  const server = await start({ supports_principle_role: false });
  await server.post("/v1/responses", { input: "Q", metadata });
  const roles = ((double.requests[0]?.body["messages"] ?? []) as { role: string }[]).map(({ role }) => role);
  expect(roles).toEqual(["user", "response_1", "response_2"]);
});

it("refuses settings that cannot be combined, and counts turn boundaries", async () => {
  await expect(start({ is_responses_native: true, sequential_reasoning_allowed: false })).rejects.toThrow(
    "is_responses_native: true cannot be combined with sequential_reasoning_allowed: false",
  );
  const server = await start();
  expect((await server.get("/token_continuity")).body.boundaries).toEqual({ extend: 0, fork: 0, lost: 0 });
});
