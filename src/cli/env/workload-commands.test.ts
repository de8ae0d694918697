import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { captureRun } from "../../../tests/support/captured-run.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "gym-workload-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const environment = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
const run = (...argv: string[]) => captureRun(argv, { cwd: base, env: environment });
const validate = (...argv: string[]) => run("env", "validate", ...argv);

const MANIFEST = "environments/garden/manifest.yaml";

function editManifest(from: string, to: string): void {
  const file = path.join(base, MANIFEST);
  writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
}

describe("gym env validate, manifest form", () => {
  it("prints the checks on stdout and warnings on stderr", async () => {
    await run("env", "init", "--environment", "garden");
    const expected = `✓ Manifest: garden 0.1.0 kind=environment profile=custom-gym-verifier inferred=custom-gym-verifier
    Profile evidence: the agent is simple_agent
✓ Components:
    resources_server: garden_resources_server -> garden [resources_servers]
    agent_server: garden_agent -> simple_agent [responses_api_agents]
    model_server: policy_model -> runtime-selected [responses_api_models]
✓ Datasets:
    example: 5 rows (example)
`;
    for (const words of [
      ["garden"],
      ["--manifest", MANIFEST],
      ["+onboarding_name=garden"],
      ["garden", "--kind", "environment"],
    ])
      expect(await validate(...words)).toEqual({ exitCode: 0, stdout: expected, stderr: "" });
    editManifest("custom-gym-verifier", "custom-gym-agent-loop");
    const { exitCode, stdout, stderr } = await validate("garden");
    expect([exitCode, stdout.includes("Warning")]).toEqual([0, false]);
    expect(stderr).toContain("Warning: integration_profile is declared as 'custom-gym-agent-loop'");
  });

  it("prints the report as JSON, and updates a manifest with --sync", async () => {
    await run("env", "init", "--environment", "garden");
    editManifest("agent_server: simple_agent", "agent_server: other_agent");
    const stale = await validate("garden", "--json");
    expect(stale.exitCode).toBe(1);
    expect(JSON.parse(stale.stdout)).toMatchObject({
      event: "error",
      message: expect.stringContaining('agent_server: manifest="other_agent", config="simple_agent"'),
    });
    const { stdout } = await validate("garden", "--sync", "--json");
    expect(Object.keys(JSON.parse(stdout))).toEqual([
      "name",
      "version",
      "kind",
      "declared_profile",
      "inferred_profile",
      "profile_evidence",
      "manifest_path",
      "config_path",
      "components",
      "datasets",
      "rollout_driver",
      "grading_mode",
      "synchronized_fields",
      "warnings",
    ]);
    expect(JSON.parse(stdout)).toMatchObject({ synchronized_fields: ["agent_server"] });
    editManifest("agent_server: simple_agent", "agent_server: other_agent");
    expect((await validate("garden", "--sync")).stdout).toContain("✓ Synchronized: agent_server\n");
  });

  it.each([
    [["garden", "--manifest", MANIFEST], "not by both"],
    [["--manifest", MANIFEST, "--kind", "environment"], "--kind needs a name"],
    [
      ["garden", "+limit=3", "--config", "x.yaml"],
      "do not accept a run config, but got: config_paths, limit.",
    ],
    [["garden", "--model", "gpt"], "but got: policy_model_name."],
    [
      ["garden", "--kind", "benchmark"],
      "Unknown catalog entry 'garden' of kind 'benchmark'. It is an environment.",
    ],
    [["gardn"], "Did you mean `garden`?"],
    [["--manifest", "absent.yaml"], "absent.yaml does not exist"],
    [["--kind", "environment"], "These need the name of a workload or --manifest: catalog_kind."],
    [["--sync"], "These need the name of a workload or --manifest: sync."],
    [["--json"], "These need the name of a workload or --manifest: json."],
    [["answer_mix"], "has no manifest; validate its config with --environment or --benchmark"],
    [["mcqa"], "gym env validate --resources-server mcqa"],
  ])("rejects %j", async (words, message) => {
    await run("env", "init", "--environment", "garden");
    const { exitCode, stdout } = await validate(...words);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(words.includes("--json") ? /^\{"event":"error",/ : /^Error: /);
    expect(stdout).toContain(message);
  });

  it("reports the problem of a manifest that the catalog cannot use", async () => {
    await run("env", "init", "--environment", "garden");
    editManifest("domain: other", "domain: plants");
    const { exitCode, stdout } = await validate("garden");
    expect(exitCode).toBe(1);
    expect(stdout).toContain("domain: Must be one of: ");
  });

  it("finds workloads under --search-dir", async () => {
    await run("env", "init", "--environment", "garden");
    const elsewhere = path.join(base, "elsewhere");
    mkdirSync(elsewhere);
    const { exitCode } = await captureRun(["env", "validate", "garden", "--search-dir", ".."], {
      cwd: elsewhere,
      env: environment,
    });
    expect(exitCode).toBe(0);
  });
});

describe("gym list environments NAME", () => {
  it("asks for the kind if a name has two", async () => {
    await run("env", "init", "--environment", "garden");
    await run("env", "init", "--benchmark", "garden");
    const { exitCode, stdout } = await run("list", "environments", "garden");
    expect(exitCode).toBe(1);
    expect(stdout).toContain("'garden' is both an environment and a benchmark; choose one with --kind.");
    const chosen = await run("list", "environments", "garden", "--kind", "benchmark");
    expect(chosen.stdout).toContain("The garden benchmark");
  });
});

describe("gym env publish", () => {
  it.each([
    [[], "Name the environment or benchmark to publish"],
    [["garden", "+limit=3"], "do not accept a run config"],
    [["answer_mix"], "has no manifest.yaml next to"],
    [["nothing_like_it"], "Unknown catalog entry"],
  ])("rejects %j", async (words, message) => {
    await run("env", "init", "--environment", "garden");
    const { exitCode, stdout } = await run("env", "publish", ...words);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(message);
  });
});

describe("gym env test NAME", () => {
  it.each([
    [["garden", "--resources-server", "garden"], "not both"],
    [["--json"], "need the NAME of a workload"],
    [["--update-expected"], "need the NAME of a workload"],
    [["--kind", "environment", "--resources-server", "mcqa"], "need the NAME of a workload"],
  ])("is a usage error with %j", async (words, message) => {
    const { exitCode, stderr } = await run("env", "test", ...words);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });

  it("requires a manifest", async () => {
    const { exitCode, stdout } = await run("env", "test", "answer_mix");
    expect(exitCode).toBe(1);
    expect(stdout).toContain("has no manifest.yaml; add one next to");
  });
});
