import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { resolveConfig } from "../resolve.ts";

let folder: string | undefined;
afterEach(() => {
  if (folder) rmSync(folder, { recursive: true });
});

const ENVIRONMENT = `
haiku:
  resources_servers:
    haiku:
      entrypoint: app.ts
      domain: other
      judge_model_server: {type: responses_api_models, name: policy_model}
haiku_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: haiku}
      model_server: {type: responses_api_models, name: policy_model}
`;
const model = (name: string) => `
${name}:
  responses_api_models:
    openai_model: {entrypoint: app.ts}
`;

async function warnings(text: string, ...overrides: string[]): Promise<string[]> {
  folder = mkdtempSync(path.join(os.tmpdir(), "model-use-"));
  const file = path.join(folder, "config.yaml");
  writeFileSync(file, text);
  const notices: string[] = [];
  await resolveConfig({
    overrides: [`+config_paths=[${file}]`, ...overrides],
    cwd: folder,
    offline: true,
    env: {},
    onNotice: (notice) => void notices.push(notice),
  });
  return notices;
}

it("warns when the model under test judges itself, and when a judge is not asked", async () => {
  const found = await warnings(ENVIRONMENT + model("policy_model") + model("judge_model"));
  expect(found).toEqual([
    expect.stringMatching(
      /'haiku' asks 'policy_model', the model under test, to judge.*set haiku\.resources_servers\.haiku\.judge_model_server\.name/,
    ),
    expect.stringMatching(
      /The model server 'judge_model' is started, but nothing refers to it.*config\.yaml/,
    ),
  ]);
});

it("says nothing about a judge of its own, also when its name is interpolated or nested", async () => {
  const both = ENVIRONMENT + model("policy_model") + model("judge_model");
  const key = "++haiku.resources_servers.haiku.judge_model_server.name";
  expect(await warnings(both, `${key}=judge_model`)).toEqual([]);
  expect(await warnings(both, `${key}=\${grader}`, "+grader=judge_model")).toEqual([]);
  const nested = "++haiku_agent.responses_api_agents.simple_agent.helpers=[judge_model]";
  expect(await warnings(both, nested)).toEqual([expect.stringContaining("to judge")]);
});

it("says nothing about models without an environment", async () => {
  expect(await warnings(model("policy_model") + model("other_model"))).toEqual([]);
});
