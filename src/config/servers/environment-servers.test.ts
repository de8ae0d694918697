import { expect, it } from "vitest";
import { environmentOfAgent, environmentsOf, generatedName, resultLabels } from "./environment-servers.ts";

const agent = (name: string) => ({
  name,
  type: "responses_api_agents" as const,
  implementation: "simple_agent",
  config: {},
});
const relay = (name: string, of: string) => ({
  name,
  type: "environment_servers" as const,
  implementation: "legacy_agent",
  config: { agent_server: { name: of } },
});

it("finds the environment server of each agent, and generates the others", () => {
  const found = environmentsOf([agent("a_simple_agent"), agent("b_agent"), relay("mine", "b_agent")]);
  expect(found.map(({ name, agents, isGenerated }) => [name, agents, isGenerated])).toEqual([
    ["mine", ["b_agent"], false],
    ["a_environment_server", ["a_simple_agent"], true],
  ]);
  expect(environmentOfAgent(found, "b_agent")?.name).toBe("mine");
  const both = environmentsOf([agent("a"), relay("x", "a"), relay("y", "a")]);
  expect(() => environmentOfAgent(both, "a")).toThrow(/x, y/);
});

it("avoids names that are taken", () => {
  const taken = new Set(["a_environment_server"]);
  expect(generatedName("a_simple_agent", "simple_agent", taken)).toBe("a_simple_agent_environment_server");
});

it("labels results by their agent unless that is ambiguous", () => {
  const labels = resultLabels(
    new Map([
      ["e1", "a"],
      ["e2", "a"],
      ["e3", "b"],
    ]),
  );
  expect([...labels.values()]).toEqual(["e1", "e2", "b"]);
});
