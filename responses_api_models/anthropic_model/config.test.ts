import { createTestServer } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const start = (config: object) =>
  createTestServer(definition, { config: { api_key: "k", model: "claude-x", ...config } });

it.each([
  { thinking_budget_tokens: 9000 },
  { thinking: { type: "enabled", budget_tokens: 8192 } },
  { thinking_budget_tokens: 100, max_tokens: 100 },
])("refuses %j, because its thinking budget leaves no tokens for the answer", async (config) => {
  await expect(start(config)).rejects.toThrow(/budget_tokens: must be smaller than max_tokens \(\d+\)/);
});

it.each([{ thinking_budget_tokens: 9000, max_tokens: 9001 }, { thinking: { type: "adaptive" } }, {}])(
  "starts with %j",
  async (config) => {
    await (await start(config)).close();
  },
);

it.each(["extra_body"])("refuses %s.stream", async (key) => {
  await expect(start({ [key]: { stream: true } })).rejects.toThrow(`${key}.stream cannot be set`);
  await (await start({ [key]: { stream: false, top_k: 5 } })).close();
});
