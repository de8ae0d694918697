import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { loadDefinition } from "../../src/servers/hosting/load-definition.ts";
import { createTestServer } from "../../src/servers/hosting/test-server.ts";
import { MockModelEndpoint } from "../../src/testing/mock-model-endpoint.ts";
import { repositoryRoot } from "./generated-files.ts";

it("the server in the guide works unchanged", async () => {
  const guide = readFileSync(path.join(repositoryRoot, "docs/guide/models.md"), "utf8");
  const source = /```ts\n([\s\S]*?)```/.exec(guide)?.[1] ?? "";
  const folder = mkdtempSync(path.join(tmpdir(), "gym-guide-"));
  const endpoint = await new MockModelEndpoint({ apiKey: "k" }).start();
  onTestFinished(async () => {
    rmSync(folder, { recursive: true });
    await endpoint.close();
  });
  writeFileSync(path.join(folder, "app.ts"), source);
  const definition = await loadDefinition(path.join(folder, "app.ts"), repositoryRoot);
  const server = await createTestServer(definition, {
    config: { base_url: endpoint.baseUrl, api_key: "k", model: "m" },
  });
  const { status, body } = await server.post("/v1/responses", { input: "hi" });
  expect([status, body.output?.[0].content[0].text]).toEqual([200, "Hello."]);
});
