import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { resolveConfig } from "../resolve.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const ENVIRONMENT = `
quiz:
  resources_servers:
    quiz: {entrypoint: app.ts, domain: other}
quiz_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: quiz}
      model_server: {type: responses_api_models, name: policy_model}
      max_steps: 3
      datasets: [{name: example, type: example, jsonl_fpath: example.jsonl}]
policy_model:
  responses_api_models:
    random_model: {entrypoint: app.ts}
`;
const HARNESS = `
other_agent:
  responses_api_agents:
    other_agent:
      entrypoint: app.ts
      timeout: 5
      resources_server: {type: resources_servers, name: "???"}
      model_server: {type: responses_api_models, name: policy_model}
`;

const REPLACE = "+replace_agents=true";

async function resolve(files: string[], ...overrides: string[]) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "swap-"));
  folders.push(folder);
  const paths = files.map((text, index) => {
    const file = path.join(folder, `${index}.yaml`);
    writeFileSync(file, text);
    return file;
  });
  const config = await resolveConfig({
    overrides: [`+config_paths=[${paths.join(",")}]`, ...overrides],
    cwd: folder,
    offline: true,
    env: {},
  });
  return { config, object: config.toObject() as Record<string, never> };
}

it("replaces the agent of an environment by an agent without a resources server", async () => {
  const { config, object } = await resolve([ENVIRONMENT, HARNESS], REPLACE);
  const agents = config.servers.filter(({ type }) => type === "responses_api_agents");
  expect(agents.map(({ name, implementation }) => [name, implementation])).toEqual([
    ["quiz_other_agent", "other_agent"],
  ]);
  expect(agents[0]?.config).toMatchObject({
    timeout: 5,
    resources_server: { name: "quiz" },
    datasets: [{ name: "example" }],
  });
  expect(agents[0]?.config).not.toHaveProperty("max_steps");
  expect(object["agent_map"]).toEqual({ quiz_simple_agent: "quiz_other_agent" });
});

it("applies overrides for the new name", async () => {
  const { config } = await resolve(
    [ENVIRONMENT, HARNESS],
    REPLACE,
    "++quiz_other_agent.responses_api_agents.other_agent.timeout=9",
  );
  expect(config.servers.find(({ name }) => name === "quiz_other_agent")?.config).toMatchObject({
    timeout: 9,
  });
});

it("keeps a config without such an agent, and reports an agent without an environment", async () => {
  const { config } = await resolve([ENVIRONMENT]);
  expect(config.servers.map(({ name }) => name)).toContain("quiz_simple_agent");
  await expect(
    resolve(
      [HARNESS, ENVIRONMENT.replace(/quiz_simple_agent:[\s\S]*?(?=policy_model:\n {2}resp)/, "")],
      REPLACE,
    ),
  ).rejects.toThrow(/other_agent.responses_api_agents.other_agent.resources_server.name/);
});

it("rejects two candidates", async () => {
  const second = HARNESS.replaceAll("other_agent", "third_agent");
  await expect(resolve([ENVIRONMENT, HARNESS, second], REPLACE)).rejects.toThrow(
    /Several agents name no resources server: 'other_agent', 'third_agent'/,
  );
});

it("rejects agents that the environment does not allow, unless the config allows the pairing", async () => {
  const strict = ENVIRONMENT.replace("domain: other}", "domain: other, allowed_agents: [simple_agent]}");
  await expect(resolve([strict, HARNESS], REPLACE)).rejects.toThrow(
    /'quiz_other_agent' is a other_agent; 'quiz' accepts simple_agent[\s\S]*Select one of: simple_agent/,
  );
  const { config } = await resolve([strict, HARNESS], REPLACE, "+allow_unsupported_pairing=true");
  expect(config.servers.map(({ name }) => name)).toContain("quiz_other_agent");
});

it("reports an agent without a resources server that nobody chose as a replacement", async () => {
  await expect(resolve([HARNESS, ENVIRONMENT])).rejects.toThrow(
    /other_agent.responses_api_agents.other_agent.resources_server.name[\s\S]*--agent-type/,
  );
});

it("lets environment servers name the new agent", async () => {
  const relay = `
quiz_environment_server:
  environment_servers:
    legacy_agent: {entrypoint: app.ts, agent_server: {type: responses_api_agents, name: quiz_simple_agent}}
`;
  const { object } = await resolve([ENVIRONMENT + relay, HARNESS], REPLACE);
  expect(object["quiz_environment_server"]).toMatchObject({
    environment_servers: { legacy_agent: { agent_server: { name: "quiz_other_agent" } } },
  });
});
