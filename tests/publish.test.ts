import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { repository, runGym } from "./gym-process.ts";
import { packedProject, runBin } from "./support/packed-project.ts";

const MANIFEST = "environments/tide_quiz/manifest.yaml";
const CASES = "resources_servers/tide_quiz/tests/verifier_cases.jsonl";
const APP = "resources_servers/tide_quiz/app.ts";

it("creates and publishes an environment", async () => {
  const cwd = await packedProject();
  const gym = (...words: string[]) => runBin(cwd, "gym", ...words);
  const edit = async (file: string, ...changes: readonly [from: string | RegExp, to: string][]) => {
    let text = await readFile(path.join(cwd, file), "utf8");
    for (const [from, to] of changes) {
      expect(text).toMatch(from);
      text = text.replace(from, to);
    }
    await writeFile(path.join(cwd, file), text);
  };

  const created = await gym("env", "init", "--environment", "tide_quiz");
  expect(created.stdout).toContain(`  ${CASES}\n`);
  const valid = await gym("env", "validate", "tide_quiz");
  expect(valid.stdout).toContain("✓ Manifest: tide_quiz 0.1.0 kind=environment");
  expect((await gym("env", "test", "tide_quiz")).stdout).toBe(
    "✓ Verifier: tide_quiz (tide_quiz) 3 cases passed.\n",
  );
  const tested = await gym("env", "test", "--resources-server", "tide_quiz");
  expect(tested.exitCode, tested.stdout + tested.stderr).toBe(0);
  expect(tested.stdout).toContain(
    "✓ Verifier: resources_servers/tide_quiz 3 cases passed, rewards from 0 to 1.",
  );

  const unfinished = await gym("env", "publish", "tide_quiz");
  expect(unfinished.exitCode).toBe(1);
  expect(unfinished.stdout.match(/- Write \w+/g)).toEqual([
    "- Write description",
    "- Write authors",
    "- Write licensing",
  ]);
  await edit(
    MANIFEST,
    [/TODO: what[^"]*/, "Questions about the sea."],
    [/TODO: who[^"]*/, "Ann"],
    ["licensing: unknown", "licensing: MIT"],
  );

  // A verifier with a maximum of ten points, which the manifest does not declare yet.
  await edit(APP, ["? 1 : 0", "? 10 : 0"]);
  const outside = await gym("env", "publish", "tide_quiz");
  expect(outside.stdout).toContain("the reward 10 is outside the declared range [0, 1]");
  await edit(MANIFEST, ["range: [0, 1]", "range: [0, 10]"]);
  const changed = await gym("env", "test", "tide_quiz");
  expect(changed.exitCode).toBe(1);
  expect(changed.stdout).toContain("the reward is 10, but expected_reward says 1");
  const updated = await gym("env", "test", "tide_quiz", "--update-expected", "--json");
  expect(JSON.parse(updated.stdout)).toMatchObject({
    resources_server: "tide_quiz",
    fixture_path: path.join(cwd, CASES),
    cases: [{ observed_rewards: [10] }, { observed_rewards: [0] }, { observed_rewards: [] }],
  });
  expect(await readFile(path.join(cwd, CASES), "utf8")).toContain(
    '{"expected_reward": 10.0, "kind": "full_reward"',
  );

  const published = await gym("env", "publish", "tide_quiz", "--json");
  expect(JSON.parse(published.stdout)).toEqual({
    name: "tide_quiz",
    version: "0.1.0",
    kind: "environment",
    status: "experimental",
    manifest_path: path.join(cwd, MANIFEST),
    verifier_cases: 3,
  });
  const listed = await gym("list", "environments", "tide_quiz");
  expect(listed.stdout).toContain("status: experimental");

  await rm(path.join(cwd, CASES));
  expect((await gym("env", "publish", "tide_quiz")).stdout).toContain(
    `There are no verifier cases: write ${CASES}`,
  );
}, 240_000);

it("stops verifiers that hang or crash, and names the case", async () => {
  const cwd = await packedProject();
  const gym = (...words: string[]) => runBin(cwd, "gym", ...words);
  await gym("env", "init", "--environment", "tide_quiz");
  const app = await readFile(path.join(cwd, APP), "utf8");
  await writeFile(
    path.join(cwd, APP),
    app.replace("verify: ({ row, response }) => ({", "verify: ({ row, response }) => (process.exit(3), {"),
  );
  const { exitCode, stdout } = await gym("env", "test", "tide_quiz");
  expect(exitCode).toBe(1);
  expect(stdout).toContain("The process ended with code 3 at: case 'right answer'.");
}, 120_000);

it.each(["calendar", "workplace_assistant", "gsm8k", "mmlu"])(
  "%s passes the checks before publication",
  async (name) => {
    const { exitCode, stdout } = await runGym(["env", "publish", name], { cwd: repository });
    expect(stdout).toMatch(
      /^✓ Publication checks passed for \w+ \w+ 1\.0\.0; catalog status=experimental \(\d+ verifier cases\)\.\n$/,
    );
    expect(exitCode).toBe(0);
  },
  120_000,
);
