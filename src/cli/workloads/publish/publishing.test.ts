import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installRoot } from "../../../config/paths.ts";
import { ConfigFiles } from "../catalog/config-files.ts";
import { discoverWorkloads, findWorkload } from "../catalog/workloads.ts";
import { newVerifier, type WorkloadScaffold, workloadFiles } from "../scaffold/workload.ts";
import { inspectPythonAgent } from "./inspect-code.ts";
import { publishWorkload } from "./publish-workload.ts";
import { type ValidateOptions, validateWorkload } from "./validate-workload.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "gym-publish-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const at = (file: string) => path.join(base, file);

function write(file: string, text: string): void {
  mkdirSync(path.dirname(at(file)), { recursive: true });
  writeFileSync(at(file), text);
}

function edit(file: string, from: string | RegExp, to: string): void {
  const before = readFileSync(at(file), "utf8");
  const after = before.replace(from, to);
  if (after === before) throw new Error(`${file} has no ${from}`);
  writeFileSync(at(file), after);
}

function scaffold(options: Partial<WorkloadScaffold> = {}): void {
  const files = workloadFiles({
    kind: "environment",
    name: "garden",
    profile: "custom-gym-verifier",
    verifier: newVerifier("garden"),
    reused: false,
    reward: { range: [0, 1], higherIsBetter: true },
    ...options,
  });
  for (const [file, text] of Object.entries(files)) write(file, text);
}

const places = () => ({ cwd: base, env: {}, installRoot: installRoot() });
const MANIFEST = "environments/garden/manifest.yaml";
const CONFIG = "environments/garden/config.yaml";
const validate = (options: Partial<ValidateOptions> = {}) =>
  validateWorkload({ ...places(), manifestFile: at(MANIFEST), ...options });

describe("validateWorkload", () => {
  it("reports the parts of a new environment", async () => {
    scaffold();
    expect(await validate()).toEqual({
      name: "garden",
      version: "0.1.0",
      kind: "environment",
      declared_profile: "custom-gym-verifier",
      inferred_profile: "custom-gym-verifier",
      profile_evidence: "the agent is simple_agent",
      manifest_path: at(MANIFEST),
      config_path: at(CONFIG),
      components: [
        {
          role: "resources_server",
          name: "garden_resources_server",
          implementation: "garden",
          boundary: "resources_servers",
          entrypoint: "app.ts",
        },
        {
          role: "agent_server",
          name: "garden_agent",
          implementation: "simple_agent",
          boundary: "responses_api_agents",
          entrypoint: "app.ts",
        },
        {
          role: "model_server",
          name: "policy_model",
          implementation: "runtime-selected",
          boundary: "responses_api_models",
          entrypoint: "app.py",
        },
      ],
      datasets: [
        {
          name: "example",
          type: "example",
          path: at("environments/garden/data/example.jsonl"),
          rows: 5,
          prompt_config: null,
        },
      ],
      rollout_driver: null,
      grading_mode: null,
      synchronized_fields: [],
      warnings: [],
    });
  });

  it("works from any folder, because paths are relative to the project of the manifest", async () => {
    scaffold();
    const report = await validate({ cwd: tmpdir() });
    expect(report.datasets[0]?.rows).toBe(5);
  });

  it("rejects a manifest that differs from the config, and updates it with sync", async () => {
    scaffold();
    edit(MANIFEST, "resources_server: garden", "# mirrored\nresources_server: shed");
    edit(MANIFEST, "data/example.jsonl", "data/other.jsonl");
    edit(CONFIG, "      datasets:", "      model_server:\n        name: judge_model\n      datasets:");
    write(
      "other.yaml",
      "judge_model:\n  responses_api_models:\n    random_model:\n      entrypoint: app.ts\n",
    );
    edit(CONFIG, "config_paths:", "config_paths:\n- other.yaml");
    const before = readFileSync(at(MANIFEST), "utf8");
    await expect(validate()).rejects.toThrow(
      '  - resources_server: manifest="shed", config="garden"\n  - model_server: manifest="policy_model", config="judge_model"\n  - datasets: ',
    );
    await expect(validate()).rejects.toMatchObject({ code: "CONFIG_WORKLOAD" });
    expect(readFileSync(at(MANIFEST), "utf8")).toBe(before);
    const report = await validate({ sync: true });
    expect(report.synchronized_fields).toEqual(["resources_server", "model_server", "datasets"]);
    const after = readFileSync(at(MANIFEST), "utf8");
    expect(after).toContain("# mirrored\nresources_server: garden\n");
    expect(after).toContain("range: [0, 1]");
    expect((await validate()).synchronized_fields).toEqual([]);
  });

  it("writes nothing if there is another problem", async () => {
    scaffold();
    edit(MANIFEST, "resources_server: garden", "resources_server: shed");
    write("environments/garden/data/example.jsonl", "{}\n[]\n");
    await expect(validate({ sync: true })).rejects.toThrow(
      /example\.jsonl:1: responses_create_params: Field required\n.*example\.jsonl:2: /,
    );
    expect(readFileSync(at(MANIFEST), "utf8")).toContain("resources_server: shed");
  });

  it.each([
    [
      "another name",
      MANIFEST,
      "name: garden",
      "name: shed",
      "its name is 'shed', but its folder is 'garden'.",
    ],
    [
      "another kind",
      MANIFEST,
      "kind: environment",
      "kind: benchmark",
      "canonical_split: Field required here",
    ],
    ["an unknown field", MANIFEST, "version:", "colour: red\nversion:", "colour: Unknown field"],
    ["broken YAML", MANIFEST, "version:", "version: [", "at line 3, column 5"],
    ["a range upside down", MANIFEST, "[0, 1]", "[1, 0]", "reward: range must be two numbers"],
    ["a broken config", CONFIG, "config_paths:", "config_paths:\n- absent.yaml", "absent.yaml"],
    [
      "no datasets",
      CONFIG,
      /datasets:[\s\S]*$/,
      "datasets: []\n",
      "exactly one agent must have datasets; found: none.",
    ],
  ])("rejects %s", async (_, file, from, to, message) => {
    scaffold();
    edit(file, from, to);
    await expect(validate()).rejects.toThrow(message);
  });

  it("reads the origin of an adopted environment", async () => {
    scaffold();
    const origin = (ref: string) =>
      `adopted_from:\n  source: https://example.org/garden.git\n  ref: ${ref}\n  reconciled: 2026-01-31\nmodality:`;
    edit(MANIFEST, "modality:", origin("v1"));
    expect((await validate()).name).toBe("garden");
    edit(MANIFEST, "ref: v1", "ref: v1 or so");
    await expect(validate()).rejects.toThrow("adopted_from: Must be source (a URL)");
    edit(MANIFEST, "higher_is_better: true", "higher_is_better: true\n  colour: red");
    await expect(validate()).rejects.toThrow("reward.colour: Unknown field");
  });

  it("reports the position of an invalid field", async () => {
    scaffold();
    edit(MANIFEST, "determinism: unknown", "determinism: maybe");
    await expect(validate()).rejects.toThrow(
      `  - determinism: Must be one of: 'seeded', 'stochastic', 'unknown' (${at(MANIFEST)}:14:14)`,
    );
  });

  it("requires dataset files that cannot be prepared or downloaded", async () => {
    scaffold();
    rmSync(at("environments/garden/data/example.jsonl"));
    await expect(validate()).rejects.toThrow("The file of dataset 'example' does not exist: ");
    write("environments/garden/data/example.jsonl", "");
    await expect(validate()).rejects.toThrow("Dataset 'example' is empty");
    rmSync(at("environments/garden/data/example.jsonl"));
    edit(CONFIG, /$/, "        source:\n          type: huggingface\n          repo_id: a/b\n");
    const { datasets, warnings } = await validate();
    expect(datasets).toMatchObject([{ rows: 0 }]);
    expect(warnings).toEqual([expect.stringContaining("`gym dataset collate --download` fetches it")]);
  });

  it("renders the rows of benchmarks and inspects the prepare script", async () => {
    scaffold({ kind: "benchmark" });
    const manifestFile = at("benchmarks/garden/manifest.yaml");
    const benchmark = () => validate({ manifestFile });
    expect((await benchmark()).warnings).toEqual([
      expect.stringContaining("gym eval prepare --benchmark garden"),
    ]);
    const rows = "benchmarks/garden/data/garden_benchmark.jsonl";
    write(rows, '{"question": "Why?", "expected_answer": "x"}\n');
    expect((await benchmark()).datasets).toMatchObject([
      { rows: 1, prompt_config: at("benchmarks/garden/prompt.yaml") },
    ]);
    write(
      rows,
      '{"expected_answer": "x"}\n{"question": "", "responses_create_params": {"input": "Hello"}}\n',
    );
    await expect(benchmark()).rejects.toThrow(/:1: .*question.*\n.*:2: it has an input already/);
    edit("benchmarks/garden/prepare.ts", "export function prepare", "export function make");
    await expect(benchmark()).rejects.toThrow("defines no function 'prepare'");
    edit("benchmarks/garden/manifest.yaml", "standard_prompt_config: ", "standard_prompt_config: x/");
    await expect(benchmark()).rejects.toThrow("prompt_config differs from standard_prompt_config");
  });

  it("checks that rollout drivers exist", async () => {
    scaffold();
    edit(CONFIG, /$/, "rollout_collection_driver: environments.garden.drive:collect\n");
    edit(MANIFEST, "custom-gym-verifier", "external-rollout-driver\nrollout_driver: old.place:collect");
    await expect(validate({ sync: true })).rejects.toThrow("was not found: environments/garden/drive.ts");
    write("environments/garden/drive.ts", "export const other = 1;\n");
    await expect(validate({ sync: true })).rejects.toThrow("is not defined in");
    write("environments/garden/drive.ts", "export async function collect() {}\n");
    expect(await validate({ sync: true })).toMatchObject({
      inferred_profile: "external-rollout-driver",
      rollout_driver: "environments.garden.drive:collect",
      synchronized_fields: ["rollout_driver"],
    });
  });

  it("warns if the agent does not match the declared profile", async () => {
    scaffold({ profile: "custom-gym-agent-loop" });
    expect(await validate()).toMatchObject({ inferred_profile: "custom-gym-agent-loop", warnings: [] });
    edit(MANIFEST, "custom-gym-agent-loop", "external-agent-loop");
    expect((await validate()).warnings).toEqual([
      "integration_profile is declared as 'external-agent-loop', but the code looks like 'custom-gym-agent-loop' (the agent has its own responses).",
    ]);
    write("responses_api_agents/garden_agent/app.ts", "export default agent;\n");
    expect((await validate()).warnings).toEqual([expect.stringContaining("could not be inferred")]);
  });
});

describe("inspectPythonAgent", () => {
  const agent = (body: string, parent = "Base") =>
    inspectPythonAgent(`class Agent(${parent}):\n    x = 1\n\n${body}\n    def other(self):\n        pass\n`)
      .profile;
  it.each([
    ["    async def responses(self):\n        return await super().responses()\n", "unknown"],
    [
      '    def responses(self):\n        """Says\n        why."""\n        raise NotImplementedError("no")\n',
      "external-agent-loop",
    ],
    [
      "    def responses(\n        self,\n    ):\n        if self.x:\n            raise NotImplementedError\n        return 1\n",
      "unknown",
    ],
    [
      "    async def responses(self):\n        # the loop\n        return await self.loop()\n",
      "custom-gym-agent-loop",
    ],
    ["", "unknown"],
  ])("reads %j", (body, profile) => expect(agent(body)).toBe(profile));
  it("recognizes SimpleAgent", () => {
    expect(agent("", "SimpleAgent")).toBe("custom-gym-verifier");
    expect(agent("", "Mixin, simple.SimpleAgent")).toBe("custom-gym-verifier");
  });
});

describe("publishWorkload", () => {
  const catalog = async () => discoverWorkloads(new ConfigFiles({ ...places(), installRoot: base })).entries;
  const publish = async () => {
    const signal = new AbortController().signal;
    const options = { ...places(), signal, process: { signal, env: { PATH: process.env["PATH"] } } };
    return publishWorkload(findWorkload(await catalog(), "garden", undefined), options, catalog);
  };

  it("lists everything that is missing", async () => {
    scaffold();
    const cases = "resources_servers/garden/tests/verifier_cases.jsonl";
    rmSync(at(cases));
    const left = await publish().then(String, (error: Error) => error.message);
    expect(left).toContain("The environment 'garden' is not ready to be published:");
    for (const field of ["description", "authors", "licensing"])
      expect(left).toContain(`  - Write ${field} in ${at(MANIFEST)}.`);
    expect(left).toContain(
      "  - There are no verifier cases: write resources_servers/garden/tests/verifier_cases.jsonl",
    );
    edit(MANIFEST, /TODO: what[^"]*/, "Questions about gardens.");
    edit(MANIFEST, /TODO: who[^"]*/, "Ann");
    edit(MANIFEST, "licensing: unknown", "licensing: MIT");
    await expect(publish()).rejects.toThrow(/published:\n {2}- There are no verifier cases[^\n]*$/);
  });
});

describe("findWorkload", () => {
  it("needs the kind only if the name is ambiguous, and suggests names", async () => {
    scaffold();
    scaffold({ kind: "benchmark" });
    const { entries } = discoverWorkloads(new ConfigFiles({ ...places(), installRoot: base }));
    expect(() => findWorkload(entries, "garden", undefined)).toThrow("is ambiguous (benchmark, environment)");
    expect(findWorkload(entries, "garden", "benchmark").kind).toBe("benchmark");
    expect(() => findWorkload(entries, "gardn", undefined)).toThrow("Did you mean `garden`?");
    rmSync(at("benchmarks"), { recursive: true });
    const { entries: rest } = discoverWorkloads(new ConfigFiles({ ...places(), installRoot: base }));
    expect(() => findWorkload(rest, "garden", "benchmark")).toThrow("It is an environment.");
  });
});
