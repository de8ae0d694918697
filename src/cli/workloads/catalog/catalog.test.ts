import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfigMetadata } from "../../../config/config-metadata.ts";
import { discoverAgents, discoverModels, discoverResourcesServers } from "./components.ts";
import { ConfigFiles } from "./config-files.ts";
import { readParts } from "./workload-parts.ts";
import { discoverWorkloads } from "./workloads.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-catalog-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = path.join(base, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Roots `mine` (working directory) and `installed`. */
const options = () => ({
  cwd: path.join(base, "mine"),
  env: {},
  installRoot: path.join(base, "installed"),
});

function files(): ConfigFiles {
  return new ConfigFiles(options());
}

const quiz = (extra = "") => `quiz:
  resources_servers:
    quiz:
      entrypoint: app.ts
      domain: knowledge
      description: Questions
      value: Knowing things
${extra}`;

const quizAgent = `quiz_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server:
        type: resources_servers
        name: quiz
      datasets:
      - name: example
        type: example
        jsonl_fpath: x.jsonl
`;

const benchmark = (name: string, repeats = "4") => `config_paths:
- resources_servers/quiz/configs/quiz.yaml
${name}_agent:
  _inherit_from: quiz_agent
  responses_api_agents:
    simple_agent:
      datasets:
      - name: ${name}_rows
        type: benchmark
        jsonl_fpath: benchmarks/${name}/data/rows.jsonl
        prepare_script: benchmarks/${name}/prepare.ts
        num_repeats: ${repeats}
`;

const manifest = (name: string, extra = "") => `name: ${name}
version: 1.0.0
kind: environment
integration_profile: custom-gym-verifier
domain: math
description: Described by a manifest
modality: text
licensing: Apache-2.0
authors: [us]
reward: {range: [0, 1], higher_is_better: true}
resources_server: quiz
agent_server: quiz_agent
model_server: policy_model
datasets:
- {name: example, type: example, jsonl_fpath: data/example.jsonl}
${extra}`;

describe("discoverWorkloads", () => {
  it("finds environments, benchmarks and resources servers that can be run", () => {
    write("installed/resources_servers/quiz/configs/quiz.yaml", quiz(quizAgent));
    write("installed/resources_servers/quiz/configs/hard.yaml", quiz());
    write("installed/benchmarks/trivia/config.yaml", benchmark("trivia"));
    write("installed/benchmarks/trivia/long.yaml", benchmark("trivia"));
    write("installed/benchmarks/prompts/plain.yaml", "user: '{question}'\n");
    write("installed/benchmarks/broken/config.yaml", "a: [\n");
    write("installed/environments/Alpha/config.yaml", quiz(quizAgent));
    const { entries, warnings } = discoverWorkloads(files());
    expect(warnings).toEqual([]);
    expect(entries.map(({ name, kind, domain, description }) => [name, kind, domain, description])).toEqual([
      ["Alpha", "environment", "knowledge", "Questions"],
      ["broken", "benchmark", undefined, undefined],
      ["resources_servers/quiz", "environment", "knowledge", "Questions"],
      ["trivia", "benchmark", "knowledge", "Questions"],
      ["trivia/long", "benchmark", "knowledge", "Questions"],
    ]);
  });

  it("hides entries of later roots", () => {
    write("mine/environments/alpha/config.yaml", quiz().replace("Questions", "Mine"));
    write("installed/environments/alpha/config.yaml", quiz());
    write("installed/resources_servers/alpha/configs/alpha.yaml", quiz(quizAgent));
    const { entries } = discoverWorkloads(files());
    expect(entries.map(({ name, description }) => [name, description])).toEqual([["alpha", "Mine"]]);
  });

  it("uses valid manifests and reports the others", () => {
    write("mine/environments/good/manifest.yaml", manifest("good"));
    write("mine/environments/good/config.yaml", quiz());
    write("mine/environments/odd/manifest.yaml", manifest("odd", "surprise: 1\n"));
    write("mine/environments/odd/config.yaml", quiz());
    write("mine/environments/named/manifest.yaml", manifest("otherwise"));
    write("mine/environments/alone/manifest.yaml", manifest("alone"));
    const { entries, warnings } = discoverWorkloads(files());
    expect(entries.map(({ name, status, version, lifecycle }) => [name, status, version, lifecycle])).toEqual(
      [
        ["good", "experimental", "1.0.0", "active"],
        ["odd", "no-manifest", undefined, undefined],
      ],
    );
    expect(warnings.map((text) => text.replace(/^.*manifest\.yaml is not used: /, ""))).toEqual([
      "there is no config.yaml next to it that can be read.",
      "its name is 'otherwise', but its folder is 'named'.",
      "surprise: Unknown field.",
    ]);
  });
});

describe("readParts", () => {
  const parts = (text: string) => {
    write("mine/resources_servers/quiz/configs/quiz.yaml", quiz(quizAgent));
    write("mine/benchmarks/trivia/config.yaml", text);
    const catalog = files();
    const entry = discoverWorkloads(catalog).entries.find(({ name }) => name === "trivia");
    return entry && readParts(entry, catalog);
  };

  it("returns agent, repeats, servers and datasets", () => {
    expect(parts(benchmark("trivia"))).toEqual({
      resourcesServers: ["quiz"],
      capabilities: [],
      agent: "simple_agent",
      datasets: ["trivia_rows"],
      hubDatasets: [],
      value: "Knowing things",
      benchmark: { agentName: "trivia_agent", numRepeats: 4 },
    });
  });

  it("names what the config needs or offers", () => {
    const judge = "      judge_model_server: {type: responses_api_models, name: policy_model}\n";
    const agent = quizAgent.replace("simple_agent", "gymnasium_agent");
    write(
      "mine/resources_servers/quiz/configs/quiz.yaml",
      quiz(`${judge}      expose_tools_over_mcp: true\n${agent}`),
    );
    const catalog = files();
    const [entry] = discoverWorkloads(catalog).entries;
    expect(entry && readParts(entry, catalog).capabilities).toEqual(["judge", "mcp", "multi turn"]);
  });

  it("assumes one repeat by default, and none if the value is not a number, like the config", () => {
    expect(parts(benchmark("trivia", "${repeats}"))?.benchmark?.numRepeats).toBeUndefined();
    expect(parts(benchmark("trivia").replace(/ +num_repeats.*\n/, ""))?.benchmark?.numRepeats).toBe(1);
  });

  it("reports why a config cannot be resolved", () => {
    const broken = parts(benchmark("trivia").replace("configs/quiz.yaml", "configs/gone.yaml"));
    expect(broken?.benchmark).toBeUndefined();
    expect(broken?.problem).toContain("gone.yaml");
  });
});

describe("metadata", () => {
  /** The quick way must give what composing the config gives. */
  it.each([
    ["one include", "config_paths: [base.yaml]\nmine: {_inherit_from: quiz}\n"],
    [
      "an override of the domain",
      "config_paths: [base.yaml]\nquiz:\n  resources_servers:\n    quiz:\n      domain: math\n",
    ],
    [
      "a domain taken away",
      "config_paths: [base.yaml]\nquiz:\n  resources_servers:\n    quiz:\n      domain: null\n",
    ],
    [
      "a key deleted",
      "config_paths: [base.yaml]\nquiz:\n  resources_servers:\n    quiz:\n      _delete_key: description\n",
    ],
    [
      "a template",
      "config_paths: [template.yaml]\nmine:\n  resources_servers:\n    o: {_inherit_from: template}\n",
    ],
    [
      "a text directive",
      "config_paths: [template.yaml]\nmine:\n  resources_servers:\n    o: ${copy:template}\n",
    ],
    ["two servers", "config_paths: [base.yaml, two.yaml]\nlate: {_inherit_from: quiz}\n"],
    [
      "an interpolation",
      "word: safety\na:\n  resources_servers:\n    o: {entrypoint: x, domain: '${word}'}\n",
    ],
    ["nothing", "config_paths: [gone.yaml]\n"],
  ])("is the same as by composing: %s", (_, text) => {
    write("mine/base.yaml", quiz());
    write("mine/two.yaml", quiz().replaceAll("quiz", "two").replace("knowledge", "games"));
    write("mine/template.yaml", "template: {entrypoint: app.ts, domain: coding, description: T}\n");
    const file = write("mine/config.yaml", text);
    const { domain, description } = readConfigMetadata(file, options());
    expect(files().metadata(file)).toMatchObject({ domain, description });
  });
});

describe("components", () => {
  it("lists models and resources servers with their flavors", () => {
    write("mine/responses_api_models/gpt/configs/gpt.yaml", "a: 1\n");
    write("mine/responses_api_models/gpt/configs/small.yaml", "a: [\n");
    write("mine/resources_servers/quiz/configs/quiz.yaml", quiz());
    write("mine/resources_servers/quiz/configs/notes.yaml", "notes: 1\n");
    expect(discoverModels(files()).map(({ name, group }) => [name, group])).toEqual([
      ["gpt", "gpt"],
      ["gpt/small", "gpt"],
    ]);
    expect(discoverResourcesServers(files())).toMatchObject([{ name: "quiz", value: "Knowing things" }]);
  });

  it("distinguishes composable and self-contained agents", () => {
    const agent = (keys: string) => `a:\n  responses_api_agents:\n    b: {entrypoint: app.ts${keys}}\n`;
    write("mine/responses_api_agents/wired/configs/wired.yaml", agent(", resources_server: {name: x}"));
    write("mine/responses_api_agents/alone/configs/alone.yaml", agent(", description: Alone"));
    write(
      "mine/responses_api_agents/framework/configs/a.yaml",
      agent(", resources_server: {}, agent_framework: x"),
    );
    write("mine/responses_api_agents/bare/app.ts", "");
    write("mine/responses_api_agents/notes/README.md", "");
    const listed = discoverAgents(files()).map(({ name, selfContained, variants }) => [
      name,
      selfContained,
      variants,
    ]);
    expect(listed).toEqual([
      ["alone", true, ["alone"]],
      ["bare", false, []],
      ["framework", true, ["a"]],
      ["wired", false, ["wired"]],
    ]);
  });
});
