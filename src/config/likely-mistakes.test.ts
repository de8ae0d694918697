import { expect, it } from "vitest";
import { likelyMistakes, rejectMisspeltKeys } from "./likely-mistakes.ts";
import { readConfigText } from "./read-config-file.ts";
import { classifyServers } from "./servers/server-schema.ts";

function mistakes(text: string): string[] {
  const root = readConfigText(text, { kind: "file", name: "my.yaml" });
  return likelyMistakes(root, classifyServers(root).servers);
}

it("reports an unknown server type with its position and a suggestion", () => {
  expect(mistakes("tools:\n  resource_servers:\n    x: {entrypoint: app.ts}\n")).toEqual([
    "'tools' is not a server: 'resource_servers' is not a server type (my.yaml:2:3). Did you mean 'resources_servers'?",
  ]);
  expect(mistakes("tools: {servers: {x: {entrypoint: app.ts}}}")).toEqual([
    "'tools' is not a server: 'servers' is not a server type (my.yaml:1:9).",
  ]);
  expect(mistakes("tools:\n  resources_servers:\n    - foo\n")).toEqual([
    "'tools.resources_servers' is a list, not a mapping of an implementation to its settings, so 'tools' is not a server (my.yaml:2:3).",
  ]);
});

it("reports a reference with a misspelt type", () => {
  const agent = (reference: string) =>
    `a: {responses_api_agents: {simple_agent: {entrypoint: app.ts, resources_server: ${reference}}}}`;
  expect(mistakes(agent("{type: resource_server, name: tools}"))).toEqual([
    "'a.responses_api_agents.simple_agent.resources_server' refers to no server: 'resource_server' is not a server type (my.yaml:1:88). Did you mean 'resources_servers'?",
  ]);
  // A mapping with a type and a name may be anything.
  expect(mistakes(agent("{type: json_schema, name: tools}"))).toEqual([]);
  expect(mistakes(agent("{type: resources_servers, name: tools}"))).toEqual([]);
});

it("ignores plain data", () => {
  expect(
    mistakes("prices: {resources: {x: {cost: 1}}}\nhead_server: {servers: {x: {entrypoint: y}}}"),
  ).toEqual([]);
});

const check = (text: string) => {
  const root = readConfigText(text, { kind: "file", name: "my.yaml" });
  rejectMisspeltKeys(root, classifyServers(root).servers);
};

it.each([
  ["num_repeat: 3", "num_repeats"],
  ["max_costs: 0.1", "max_cost"],
  ["run_timout_seconds: 1", "run_timeout_seconds"],
  ["rollout_timeout_second: 1", "rollout_timeout_seconds"],
  ["hostin: process", "hosting"],
  ["responses_create_param: {temperature: 3}", "responses_create_params"],
])("rejects %s", (text, nearest) => {
  const [key = ""] = text.split(":");
  expect(() => check(text)).toThrow(
    `Nothing reads the key '${key}' (my.yaml:1:1). Did you mean '${nearest}'?`.replace("1:1", place(text)),
  );
});

/** A mapping stands where its key does, any other value where it begins. */
function place(text: string): string {
  return text.includes("{") ? "1:1" : `1:${text.indexOf(": ") + 3}`;
}

it("allows other keys, servers, and keys that an interpolation refers to", () => {
  check("note: 1\nlimits: 5\njudge_base_url: x");
  check("policy_model_2: {responses_api_models: {random_model: {entrypoint: app.ts}}}");
  check("max_costs: 1\nmax_cost: ${max_costs}");
});

it("reports settings of a server that no config defines", () => {
  expect(
    mistakes("simple_agent: {responses_api_agents: {simple_agent: {resources_server: {name: x}}}}"),
  ).toEqual([
    "'simple_agent' is not a server: its settings have no entrypoint (my.yaml:1:1). Add the config that defines 'simple_agent'.",
  ]);
});
