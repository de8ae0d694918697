import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { captureRun } from "../../../tests/support/captured-run.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "gym-check-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const APP = `
import { defineResourcesServer } from "nemo-gym";
import { z } from "zod";
export default defineResourcesServer({
  config: z.object({ needed: z.number(), max_tries: z.number().optional() }),
  verify: () => ({ reward: 1 }),
});
`;

function write(name: string, text: string): void {
  mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
  writeFileSync(path.join(base, name), text);
}

function validate(block: string, ...words: string[]) {
  write("a.yaml", `kiln:\n  resources_servers:\n    oven:\n      entrypoint: app.ts\n${block}`);
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
  return captureRun(["env", "validate", "--config", "a.yaml", ...words], { cwd: base, env });
}

describe("gym env validate", () => {
  beforeEach(() => write("resources_servers/oven/app.ts", APP));

  it.each([
    [
      "      num_workers: -1\n",
      "kiln.resources_servers.oven.num_workers (a.yaml:5:20): must be between 1 and",
    ],
    [
      "      hosting: foo\n",
      "kiln.resources_servers.oven.hosting (a.yaml:5:16): must be one of cohosted, process",
    ],
    ["hosting: foo\n", 'hosting (a.yaml:5:10): must be one of cohosted, process, not "foo"'],
  ])("rejects values that no server can start with: case %#", async (block, told) => {
    const { exitCode, stdout } = await validate(block);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(told);
    const json = await validate(block, "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: false, error: { code: "CONFIG_INVALID" } });
  });

  it("warns about misspelt keys and a missing entry file", async () => {
    const odd = await validate(
      "      needed: 1\n      max_sesions: 3\n",
      "++kiln.resources_servers.oven.entrypoint=nope.ts",
    );
    expect(odd).toMatchObject({
      exitCode: 0,
      stdout: "✓ Config is valid.\nIt cannot be started here: see the warnings about kiln.\n",
    });
    expect(odd.stderr).toContain("Did you mean 'max_sessions'?");
    expect(odd.stderr).toContain("needs its entrypoint 'nope.ts'");
    const json = await validate("      needed: 1\n      max_sesions: 3\n", "--json");
    expect(JSON.parse(json.stdout).warnings).toEqual([expect.stringContaining("max_sessions")]);
  });

  it("checks the keys of the server itself", async () => {
    const fine = await validate("      needed: 1\n");
    expect(fine).toMatchObject({ exitCode: 0, stdout: "✓ Config is valid.\n", stderr: "" });
    const odd = await validate("      needed: 1\n      max_triez: 2\n      domian: agent\n");
    expect(odd.stderr).toContain("kiln.resources_servers.oven.max_triez has no effect");
    expect(odd.stderr).toContain("Did you mean 'max_tries'?");
    expect(odd.stderr).toContain("Did you mean 'domain'?");
    const incomplete = await validate("");
    expect(incomplete.exitCode).toBe(0);
    expect(incomplete.stderr).toContain("kiln.resources_servers.oven.needed: is required");
    const { exitCode, stdout } = await validate("", "--strict");
    expect(exitCode).toBe(1);
    expect(stdout).toContain("kiln.resources_servers.oven.needed: is required");
    const wrong = await validate("      needed: 1\n      max_tries: many\n");
    expect(wrong.stdout).toContain("kiln.resources_servers.oven.max_tries (a.yaml:6:18): ");
    const missing = await validate("", "--deep", "++kiln.resources_servers.oven.entrypoint=nope.ts");
    expect(missing).toMatchObject({ exitCode: 1, stdout: expect.stringContaining("`entrypoint: app.ts`") });
  });

  it("accepts a config that lacks values, a sandbox and a judge, unless it is checked strictly", async () => {
    const reference = (type: string, name: string) => `{type: ${type}, name: ${name}}`;
    write(
      "parts.yaml",
      [
        "kiln: {resources_servers: {oven: {entrypoint: app.ts, needed: null}}}",
        "kiln_agent:",
        "  responses_api_agents:",
        "    simple_agent:",
        "      entrypoint: app.py",
        `      resources_server: ${reference("resources_servers", "kiln")}`,
        `      model_server: ${reference("responses_api_models", "policy_model")}`,
        "      sandbox_provider: sandbox",
        "kiln_environment_server:",
        "  environment_servers:",
        "    legacy_agent:",
        "      entrypoint: app.py",
        `      agent_server: ${reference("responses_api_agents", "kiln_agent")}`,
      ].join("\n"),
    );
    const env = { PATH: process.env["PATH"], HOME: process.env["HOME"] };
    const check = (...words: string[]) =>
      captureRun(["env", "validate", "--config", "parts.yaml", ...words], { cwd: base, env });
    const lax = await check();
    expect(lax).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("Config is valid") });
    expect(lax.stderr).toContain("kiln.resources_servers.oven.needed");
    expect(lax.stderr).not.toContain("environment_server");
    const strict = await check("--strict");
    expect(strict).toMatchObject({ exitCode: 1 });
    expect(strict.stdout).toContain("'policy_model', which is not configured");
    const model = ["--model-type", "random_model"];
    expect((await check("--strict", ...model)).stdout).toContain(
      "sandbox_provider refers to the sandbox block",
    );
  });

  it("reports a misspelt override of a key that the file sets", async () => {
    const { exitCode, stderr } = await validate(
      "      needed: 1\n      max_tries: 2\n",
      "++kiln.resources_servers.oven.max_tires=3",
    );
    expect(exitCode).toBe(0);
    expect(stderr).toContain("kiln.resources_servers.oven.max_tires has no effect");
  });

  it("reports keys of a server that declares none", async () => {
    write(
      "resources_servers/oven/app.ts",
      'import { defineResourcesServer } from "nemo-gym";\nexport default defineResourcesServer({ verify: () => ({ reward: 0 }) });\n',
    );
    const { stderr } = await validate("      max_query: 3\n");
    expect(stderr).toContain("kiln.resources_servers.oven.max_query has no effect");
  });

  it("warns about code that cannot be loaded, and fails with --deep", async () => {
    write("resources_servers/oven/app.ts", "throw new Error('kaboom');");
    expect(await validate("")).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("kaboom") });
    const { exitCode, stdout } = await validate("", "--deep");
    expect(exitCode).toBe(1);
    expect(stdout).toContain("kaboom");
  });
});

describe("shipped configs", () => {
  const root = path.resolve(import.meta.dirname, "../../..");
  const configs = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) =>
    /^(?:(?:resources_servers|responses_api_(?:agents|models))\/\w+\/configs\/[^/]+|(?:benchmarks|environments)\/\w+\/config)\.yaml$/.test(
      file,
    ),
  );

  it("have no key that nothing reads", async () => {
    expect(configs.length).toBeGreaterThan(150);
    const told: string[] = [];
    for (const file of configs) {
      const model = file.startsWith("responses_api_models/") ? [] : ["--model-type", "random_model"];
      const { stderr } = await captureRun(
        ["env", "validate", "--config", file, ...model, "--env-yaml", "none"],
        {
          cwd: root,
        },
      );
      told.push(...stderr.split("\n").filter((line) => line.includes("has no effect")));
    }
    expect(told).toEqual([]);
  });

  it("accepts parts of configs, which define no servers", async () => {
    write("part.yaml", "kiln:\n  resources_servers:\n    oven: {needed: '$" + "{elsewhere}'}\n");
    const words = ["env", "validate", "--config", "part.yaml"];
    const { exitCode, stdout, stderr } = await captureRun(words, { cwd: base, env: {} });
    expect([exitCode, stdout, stderr]).toEqual([0, "✓ Config is valid.\nIt has no servers.\n", ""]);
  });
});
