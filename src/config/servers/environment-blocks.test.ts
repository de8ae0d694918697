import { expect, it } from "vitest";
import { resolveConfig } from "../resolve.ts";

const agent = (name: string) => ({
  [name]: {
    responses_api_agents: {
      simple_agent: { entrypoint: "app.ts", resources_server: { type: "resources_servers", name: "quiz" } },
    },
  },
});
const quiz = { quiz: { resources_servers: { mcqa: { entrypoint: "app.ts" } } } };
const relay = (of: string) => ({
  environment_servers: {
    legacy_agent: { entrypoint: "app.ts", agent_server: { type: "responses_api_agents", name: of } },
  },
});

async function agentsOf(initial: Record<string, unknown>) {
  const options = { cwd: "/nonexistent", env: {}, skipEnvYaml: true, offline: true };
  const config = await resolveConfig({ ...options, initial: { ...quiz, ...initial } });
  return Object.fromEntries(
    config.servers.flatMap(({ name, type, config: block }) =>
      type === "environment_servers" ? [[name, (block["agent_server"] as { name: string }).name]] : [],
    ),
  );
}

it("lets configs inherit the relay that an agent has by itself", async () => {
  const config = {
    ...agent("quiz_simple_agent"),
    hard_simple_agent: { _inherit_from: "quiz_simple_agent" },
    hard_environment_server: { _inherit_from: "quiz_environment_server" },
  };
  // The agent was renamed too, and the relay follows it.
  expect(await agentsOf(config)).toEqual({ hard_environment_server: "hard_simple_agent" });
  const wrong = { ...config, hard_environment_server: { _inherit_from: "quz_environment_server" } };
  await expect(agentsOf(wrong)).rejects.toThrow(/'quz_environment_server' that '_inherit_from' names/);
});

it("follows an agent to its new name, and asks if it has several", async () => {
  const config = { ...agent("a_agent"), env: relay("a_agent"), b_agent: { _inherit_from: "a_agent" } };
  expect(await agentsOf(config)).toEqual({ env: "b_agent" });
  const copied = { ...config, b_agent: { _copy: "a_agent" } };
  expect(await agentsOf(copied)).toEqual({ env: "a_agent" });
  await expect(agentsOf({ ...config, c_agent: { _inherit_from: "a_agent" } })).rejects.toThrow(
    /env.environment_servers.legacy_agent.agent_server.name' is 'a_agent'.*b_agent, c_agent/,
  );
});

it("rejects agents without an environment server if asked to", async () => {
  const strict = { error_on_agent_without_environment_server: true };
  const config = { ...agent("a_agent"), ...agent("b_agent"), env: relay("a_agent"), ...strict };
  await expect(agentsOf(config)).rejects.toThrow(/have no environment server: b_agent/);
  const complete = { ...config, other: relay("b_agent") };
  expect(await agentsOf(complete)).toEqual({ env: "a_agent", other: "b_agent" });
});
