import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installRoot } from "../../../config/paths.ts";
import { resolveConfig } from "../../../config/resolve.ts";
import { ConfigFiles } from "../catalog/config-files.ts";
import { discoverWorkloads } from "../catalog/workloads.ts";
import { checkName, type ScaffoldFiles, writeMissingFiles } from "./files.ts";
import {
  commonJsProject,
  completeGitignore,
  missingDependency,
  packageSource,
  projectFiles,
} from "./project.ts";
import { serverFiles } from "./templates.ts";
import { existingVerifier, newVerifier, type WorkloadScaffold, workloadFiles } from "./workload.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-scaffold-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const workload = (changes: Partial<WorkloadScaffold>): ScaffoldFiles =>
  workloadFiles({
    kind: "environment",
    name: "garden",
    profile: "custom-gym-verifier",
    verifier: newVerifier("garden"),
    reused: false,
    reward: { range: [0, 1], higherIsBetter: true },
    ...changes,
  });

async function resolved(...paths: string[]) {
  return resolveConfig({
    cwd: base,
    env: {},
    noModel: true,
    offline: true,
    overrides: [`+config_paths=[${paths.join(",")}]`],
  });
}

describe("checkName", () => {
  it("accepts module names and suggests one otherwise", () => {
    expect(checkName("my_quiz2")).toBe("my_quiz2");
    expect(() => checkName("My-Quiz")).toThrow(", such as 'my_quiz'.");
    expect(() => checkName("2fast")).toThrow("such as 'fast'");
    expect(() => checkName("a".repeat(70))).toThrow("it has 70 characters, but at most 64 are allowed.");
    for (const bad of ["", "../up", "a/b", "a b", "é", "a".repeat(65)])
      expect(() => checkName(bad)).toThrow();
  });
});

describe("writeMissingFiles", () => {
  it("writes nothing if a file differs", async () => {
    writeFileSync(path.join(base, "b"), "mine");
    await expect(writeMissingFiles(base, { a: "1", b: "2" })).rejects.toThrow("  - b\nNothing was written.");
    expect(existsSync(path.join(base, "a"))).toBe(false);
  });
  it("names the file and the folder that cannot be written to", async () => {
    writeFileSync(path.join(base, "x"), "a file");
    await expect(writeMissingFiles(base, { "x/a": "1" })).rejects.toThrow(
      `x/a cannot be created in ${base}: something`,
    );
  });
  it("keeps files with the same content", async () => {
    writeFileSync(path.join(base, "b"), "2");
    expect(await writeMissingFiles(base, { "x/a": "1", b: "2" })).toEqual({ created: ["x/a"], kept: ["b"] });
  });
});

describe("servers", () => {
  it("resolve", async () => {
    await writeMissingFiles(base, {
      ...serverFiles("resources-server", "quiz"),
      ...serverFiles("model", "parrot"),
    });
    const config = await resolved(
      "resources_servers/quiz/configs/quiz.yaml",
      "responses_api_models/parrot/configs/parrot.yaml",
    );
    expect(config.servers.map(({ name, implementation }) => [name, implementation])).toEqual([
      ["quiz_resources_server", "quiz"],
      ["quiz_simple_agent", "simple_agent"],
      ["policy_model", "parrot"],
    ]);
  });

  it("of a judge tell the audit what the judge writes", () => {
    const files = serverFiles("judge", "essay") as Record<string, string>;
    const labels = files["resources_servers/essay/audit.yaml"]?.match(/\[\[\w+\]\]/g) ?? [];
    expect(labels).toEqual(["[[GOOD]]", "[[BAD]]"]);
    for (const label of labels) {
      expect(files["resources_servers/essay/app.ts"]).toContain(`"${label}"`);
      expect(files["resources_servers/essay/prompt.txt"]).toContain(label);
    }
  });

  it("are formatted like the rest of this repository", () => {
    const files = {
      ...serverFiles("resources-server", "quiz"),
      ...serverFiles("game", "hunt"),
      ...serverFiles("judge", "essay"),
      ...serverFiles("agent", "looper"),
      ...serverFiles("model", "parrot"),
      ...workload({ kind: "benchmark", profile: "external-rollout-driver" }),
      ...workload({ profile: "external-agent-loop" }),
    };
    const biome = path.join(installRoot(), "node_modules/.bin/biome");
    for (const [file, text] of Object.entries(files).filter(([name]) => name.endsWith(".ts"))) {
      const formatted = execFileSync(biome, ["check", "--write", "--stdin-file-path", file], {
        input: text,
        cwd: installRoot(),
        encoding: "utf8",
        stdio: ["pipe", "pipe", "ignore"],
      });
      expect(formatted, file).toBe(text);
    }
  });
});

describe("types", () => {
  const profiles: WorkloadScaffold["profile"][] = [
    "custom-gym-verifier",
    "custom-gym-agent-loop",
    "external-agent-loop",
    "external-rollout-driver",
  ];
  it("of every kind and profile are correct", { timeout: 120_000 }, async () => {
    const root = installRoot();
    const workloads = profiles.flatMap((profile, index) =>
      (["environment", "benchmark"] as const).map((kind) => {
        const name = `${kind}_${index}`;
        return workload({ kind, name, profile, verifier: newVerifier(name) });
      }),
    );
    const { "tsconfig.json": tsconfig = "", ...around } = projectFiles(base, root);
    await writeMissingFiles(
      base,
      Object.assign(
        {},
        around,
        ...workloads,
        serverFiles("agent", "a"),
        serverFiles("model", "m"),
        serverFiles("game", "g"),
        serverFiles("judge", "j"),
      ),
    );
    const settings = JSON.parse(tsconfig);
    // The source instead of what was built of it, which may be older.
    const own = JSON.parse(readFileSync(path.join(root, "tsconfig.json"), "utf8")) as {
      compilerOptions: { paths: Record<string, string[]> };
    };
    settings.compilerOptions.paths = Object.fromEntries(
      Object.entries(own.compilerOptions.paths).map(([name, files]) => [
        name,
        files.map((file) => path.join(root, file)),
      ]),
    );
    writeFileSync(path.join(base, "tsconfig.json"), JSON.stringify(settings));
    symlinkSync(path.join(root, "node_modules"), path.join(base, "node_modules"));
    const tsc = (...options: string[]) =>
      spawnSync(path.join(root, "node_modules/.bin/tsc"), ["--noEmit", "-p", ".", ...options], {
        cwd: base,
        encoding: "utf8",
      });
    expect(tsc()).toMatchObject({ stdout: "", status: 0 });
    // The source of the package is outside of the project.
    const strictest = tsc("--exactOptionalPropertyTypes", "--noPropertyAccessFromIndexSignature");
    expect(strictest.stdout.split("\n").filter((line) => /^\w/.test(line))).toEqual([]);
  });
});

describe("workloads", () => {
  it.each(["environment", "benchmark"] as const)(
    "%ss are found in the catalog with their manifest",
    async (kind) => {
      await writeMissingFiles(base, workload({ kind }));
      const { entries, warnings } = discoverWorkloads(
        new ConfigFiles({ cwd: base, env: {}, installRoot: base }),
      );
      expect(warnings).toEqual([]);
      expect(entries.find(({ name }) => name === "garden")).toMatchObject({ kind, status: "experimental" });
      const { servers } = await resolved(`${kind}s/garden/config.yaml`);
      expect(servers.map(({ name }) => name)).toEqual([
        "garden_resources_server",
        "garden_agent",
        "policy_model",
      ]);
    },
  );

  it("replace the agent of the verifier by their own", async () => {
    await writeMissingFiles(base, workload({ profile: "custom-gym-agent-loop" }));
    const { servers } = await resolved("environments/garden/config.yaml");
    const agents = servers.filter(({ type }) => type === "responses_api_agents");
    expect(agents.map(({ name, implementation }) => [name, implementation])).toEqual([
      ["garden_agent", "garden_agent"],
    ]);
    expect(agents[0]?.config).toMatchObject({ resources_server: { name: "garden_resources_server" } });
  });

  it("let the author control the episode or the rollouts", async () => {
    await writeMissingFiles(base, workload({ profile: "external-agent-loop" }));
    expect(readFileSync(path.join(base, "responses_api_agents/garden_agent/app.ts"), "utf8")).toContain(
      "return standardRun(args);",
    );
    const files = workload({ profile: "external-rollout-driver" });
    expect(files["environments/garden/rollout_driver.ts"]).toContain("export const runRollouts");
    const reference = "environments.garden.rollout_driver:runRollouts\n";
    expect(files["environments/garden/config.yaml"]).toContain(`rollout_collection_driver: ${reference}`);
    expect(files["environments/garden/manifest.yaml"]).toContain(`rollout_driver: ${reference}`);
  });

  it("reuse a verifier with rows it can score", async () => {
    await writeMissingFiles(base, serverFiles("resources-server", "quiz"));
    const verifier = existingVerifier("quiz", [base]);
    const files = workload({ kind: "benchmark", verifier, reused: true });
    expect(Object.keys(files).some((file) => file.startsWith("resources_servers/"))).toBe(false);
    const [line = ""] = (files["benchmarks/garden/data/source.jsonl"] ?? "").split("\n");
    const row = JSON.parse(line);
    expect(row).toEqual({
      responses_create_params: {},
      expected_answer: "8",
      task_prompt: expect.stringContaining("How many legs"),
    });
    expect(() => existingVerifier("quizz", [base])).toThrow(
      "There is no verifier 'quizz' to reuse. Did you mean `quiz`?",
    );
  });
});

describe("projects", () => {
  it("get the missing project files", () => {
    const cwd = path.join(base, "My Project");
    mkdirSync(cwd);
    const files = projectFiles(cwd, installRoot());
    expect(Object.keys(files)).toEqual(["package.json", "tsconfig.json", ".gitignore"]);
    const content = JSON.parse(files["package.json"] ?? "");
    expect(content).toMatchObject({ name: "my-project", type: "module", private: true });
    const { dependencies: own } = JSON.parse(readFileSync(path.join(installRoot(), "package.json"), "utf8"));
    // `node --import jiti/register FILE.ts` finds the loader only among the packages of the project.
    expect(content.devDependencies.jiti).toBe(own.jiti);
    expect(path.resolve(cwd, content.dependencies["nemo-gym"].slice("file:".length))).toBe(installRoot());
    writeFileSync(path.join(cwd, "package.json"), '{"dependencies": {"nemo-gym": "*"}}');
    expect(Object.keys(projectFiles(cwd, installRoot()))).toEqual(["tsconfig.json", ".gitignore"]);
    expect(commonJsProject(cwd, installRoot())).toContain("npm pkg set type=module");
    expect(missingDependency(cwd, installRoot())).toContain("zod, vitest");
  });
  it("keep keys and results out of git and of packages", () => {
    expect(projectFiles(base, installRoot())[".gitignore"]).toBe("node_modules/\nresults/\nenv.yaml\n");
    expect(completeGitignore(base, installRoot())).toEqual([]);
    writeFileSync(path.join(base, ".gitignore"), "/node_modules\n*.log");
    expect(completeGitignore(base, installRoot())).toEqual(["results/", "env.yaml"]);
    expect(readFileSync(path.join(base, ".gitignore"), "utf8")).toBe(
      "/node_modules\n*.log\nresults/\nenv.yaml\n",
    );
    expect(completeGitignore(base, installRoot())).toEqual([]);
  });
  describe("of an installed copy", () => {
    const inFolder = (files: Record<string, string>) => {
      const own = path.join(base, "owner/node_modules/nemo-gym");
      const cwd = path.join(base, "fresh");
      mkdirSync(own, { recursive: true });
      mkdirSync(cwd);
      for (const [name, text] of Object.entries(files)) writeFileSync(path.join(base, "owner", name), text);
      return packageSource(cwd, own, "1.2.3");
    };
    it("use the tarball of the installation", () => {
      const manifest = JSON.stringify({ dependencies: { "nemo-gym": "file:gym.tgz" } });
      expect(inFolder({ "package.json": manifest, "gym.tgz": "" })).toEqual({
        specifier: "file:../owner/gym.tgz",
        isCopy: false,
      });
    });
    it("use the record of npm if there is no package.json", () => {
      const packages = { "node_modules/nemo-gym": { resolved: "file:gym.tgz" } };
      const lock = JSON.stringify({ packages });
      expect(inFolder({ "node_modules/.package-lock.json": lock, "gym.tgz": "" }).specifier).toBe(
        "file:../owner/gym.tgz",
      );
    });
    it("keep a URL, and use the version for the registry", () => {
      const manifest = (source: string) => JSON.stringify({ devDependencies: { "nemo-gym": source } });
      expect(inFolder({ "package.json": manifest("git+https://example.org/gym.git") }).specifier).toBe(
        "git+https://example.org/gym.git",
      );
      writeFileSync(path.join(base, "owner/package.json"), manifest("^1.0.0"));
      const own = path.join(base, "owner/node_modules/nemo-gym");
      expect(packageSource(base, own, "1.2.3")).toEqual({ specifier: "^1.2.3", isCopy: false });
    });
    it("use the copy if the tarball is missing", () => {
      const manifest = JSON.stringify({ dependencies: { "nemo-gym": "file:gone.tgz" } });
      expect(inFolder({ "package.json": manifest })).toEqual({
        specifier: "file:../owner/node_modules/nemo-gym",
        isCopy: true,
      });
    });
  });
  it("are not created inside this package", () => {
    expect(projectFiles(installRoot(), installRoot())).toEqual({});
    expect(missingDependency(installRoot(), installRoot())).toBeUndefined();
    expect(readFileSync(path.join(installRoot(), "package.json"), "utf8")).toContain('"nemo-gym"');
  });
});
