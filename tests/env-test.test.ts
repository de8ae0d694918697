import { symlink } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { project, repository, runGym } from "./gym-process.ts";
import { captureRun } from "./support/captured-run.ts";

const test = (value: number) =>
  `import { expect, it } from "vitest";\nit("holds", () => expect(${value}).toBe(1));\n`;

/** A project that uses the packages of this repository. */
async function projectWithPackages(files: Record<string, string>): Promise<string> {
  const cwd = await project({ "package.json": '{"type": "module"}', ...files });
  await symlink(path.join(repository, "node_modules"), path.join(cwd, "node_modules"));
  return cwd;
}

describe("gym env test", () => {
  it("runs the tests of one server, then checks its data", async () => {
    const rows = '{"a": 1}\n'.repeat(5);
    const files = {
      "resources_servers/quiz/app.ts": "",
      "resources_servers/quiz/app.test.ts": test(1),
      "resources_servers/quiz/data/example.jsonl": rows,
    };
    const words = ["env", "test", "--resources-server", "quiz", "+should_validate_data=true"];
    const incomplete = await runGym(words, { cwd: await projectWithPackages(files) });
    expect(incomplete.exitCode).toBe(1);
    expect(incomplete.stdout).toContain("resources_servers/quiz/data/example_metrics.json is missing");
    expect(incomplete.stdout).toContain(
      "gym dataset collate --config resources_servers/quiz/configs/quiz.yaml",
    );
    const cwd = await projectWithPackages({
      ...files,
      "resources_servers/quiz/data/example_metrics.json": '{"Number of examples": 5}',
      "resources_servers/quiz/data/example_rollouts.jsonl": rows,
    });
    const complete = await runGym(words, { cwd });
    expect(complete.stdout).toContain("The example data of resources_servers/quiz is complete.");
    expect(complete.exitCode).toBe(0);
  });

  it("omits the servers of the package if the project has its own, unless --all is given", async () => {
    const server = (name: string) => ({
      [`responses_api_agents/${name}/app.ts`]: "",
      [`responses_api_agents/${name}/README.md`]: "",
      [`responses_api_agents/${name}/app.test.ts`]: test(1),
    });
    const cwd = await projectWithPackages(server("mine"));
    const installRoot = await projectWithPackages(server("shipped"));
    const env = { PATH: process.env["PATH"], CI: "true" };
    const own = await captureRun(["env", "test"], { cwd, env, installRoot });
    expect(own.stdout).toContain(
      "Testing 1 of 1 servers.\nThe 1 servers of the package are left out; --all tests them too.\n",
    );
    expect(own.stdout).not.toContain("\u001b[");
    const all = await captureRun(["env", "test", "--all"], { cwd, env, installRoot });
    expect(all.stdout).toContain("Testing 2 of 2 servers.\n");
    const empty = await captureRun(["env", "test"], { cwd: await project({}), env, installRoot });
    expect(empty.stdout).toContain("Testing 1 of 1 servers.\n");
  });

  it("tests every server with a README, and lists the results", async () => {
    const files: Record<string, string> = {};
    for (const name of ["good", "bad", "bare", "hidden"]) files[`responses_api_agents/${name}/app.ts`] = "";
    for (const name of ["good", "bad", "bare"]) files[`responses_api_agents/${name}/README.md`] = "";
    files["responses_api_agents/good/app.test.ts"] = test(1);
    files["responses_api_agents/bad/app.test.ts"] = test(2);
    const cwd = await projectWithPackages(files);
    // With its own root, so that no built-in server is tested.
    const all = (...words: string[]) =>
      captureRun(["env", "test", ...words], { cwd, env: { PATH: process.env["PATH"] }, installRoot: cwd });
    const { exitCode, stdout, stderr } = await all();
    expect(exitCode).toBe(1);
    expect(stdout).toContain("Testing 3 of 4 servers.");
    expect(stdout).toContain("Passed: 1 / 3 (33.3%)\n  - responses_api_agents/good\n");
    expect(stdout).toContain("Failed: 1 / 3 (33.3%)\n  - responses_api_agents/bad\n");
    expect(stdout).toContain("Without tests: 1 / 3 (33.3%)\n  - responses_api_agents/bare\n");
    expect(stdout).toContain("Not tested, because they have no README.md: responses_api_agents/hidden");
    expect(stderr).toContain(
      `cd ${cwd} && npx vitest run --testTimeout=60000 --hookTimeout=60000 responses_api_agents/bad/`,
    );
    const shard = ["+num_shards=3", "+shard_index=2"];
    expect((await all(...shard)).exitCode).toBe(0);
    expect((await all(...shard, "+fail_on_total_and_test_mismatch=true")).exitCode).toBe(1);
  });
});
