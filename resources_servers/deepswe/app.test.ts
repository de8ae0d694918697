import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";
import { readTasks } from "./tasks.ts";
import { verdictOf } from "./verdict.ts";

const TASKS = fileURLToPath(new URL("data/tasks", import.meta.url));
const ID = "example-stack";
const RIGHT = "def top(items):\\n    return items[-1]\\n";
const directory = mkdtempSync(path.join(tmpdir(), "deepswe-"));
const image = path.join(directory, "image");
const tasks = path.join(directory, "tasks");
const commit = "git -c user.name=x -c user.email=x@example.org commit -qam x";

describe.skipIf(skipWithoutBubblewrap)("deepswe", () => {
  beforeAll(() => {
    chmodSync(directory, 0o755);
    const repository = path.join(image, "app");
    mkdirSync(repository, { recursive: true });
    writeFileSync(path.join(repository, "stack.py"), "def top(items):\n    return items[0]\n");
    const git = (...words: string[]) =>
      execFileSync(
        "git",
        ["-C", repository, "-c", "user.name=x", "-c", "user.email=x@example.org", ...words],
        {
          encoding: "utf8",
        },
      );
    git("init", "-q", "-b", "main");
    git("add", "-A");
    git("commit", "-qm", "base");
    cpSync(path.join(TASKS, ID), path.join(tasks, ID), { recursive: true });
    const file = path.join(tasks, ID, "task.toml");
    const text = readFileSync(file, "utf8")
      .replace('"example/stack:1"', JSON.stringify(image))
      .replace(/[0-9a-f]{40} HEAD/, `${git("rev-parse", "HEAD").trim()} HEAD`);
    writeFileSync(file, text);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const play = async (command: string | undefined, changed: Record<string, unknown> = {}, config = {}) => {
    const server = await createTestServer(app, {
      config: { sandbox_provider: { bubblewrap: {} }, tasks_dir: tasks, expected_task_count: 1, ...config },
    });
    const row = { verifier_metadata: { task_id: ID }, image, ...changed };
    const jar = server.newJar();
    if (command !== undefined) {
      await server.post("/seed_session", row, jar);
      await server.post("/bash", { command }, jar);
    }
    const reply = await server.post("/verify", verifyBody(row, messageItem("done")), jar);
    await server.close();
    return reply;
  };

  it("rewards a committed repair", async () => {
    const { body } = await play(`printf '${RIGHT}' > stack.py && ${commit}`);
    expect(body).toMatchObject({
      reward: 1,
      evaluation_completed: true,
      f2p_passed: 1,
      p2p_passed: 1,
      partial: 1,
    });
    expect(body.model_patch).toContain("items[-1]");
  });

  it.each([
    [
      "a repair without a commit",
      `printf '${RIGHT}' > stack.py`,
      { evaluation_completed: true, f2p_passed: 0 },
    ],
    [
      "files for the verifier",
      `mkdir -p /logs/verifier && echo '{"reward": 1}' > /logs/verifier/reward.json`,
      { f2p_passed: 0 },
    ],
    ["a repository without history", "rm -rf .git", { evaluation_completed: false }],
  ])("does not reward %s", async (_title, command, expected) => {
    expect((await play(command)).body).toMatchObject({ reward: 0, ...expected });
  });

  it("grades the reference solution to test itself", async () => {
    const config = { is_verifying_golden_patch: true, include_model_patch_in_response: false };
    expect((await play(undefined, {}, config)).body).toMatchObject({ reward: 1, model_patch: null });
  });

  it("rejects a call without a session, and rows without a task", async () => {
    expect((await play(undefined)).status).toBe(409);
    expect((await play(undefined, { image: "other" })).status).toBe(422);
    expect((await play(undefined, { task_id: "other" })).status).toBe(422);
    expect((await play(undefined, { verifier_metadata: null })).status).toBe(422);
  });
});

it("names what is wrong with a directory of tasks", () => {
  expect(readTasks(TASKS, 5).size).toBe(5);
  expect(() => readTasks(TASKS, 113)).toThrow(/has 5 tasks, but expected_task_count is 113/);
  expect(() => readTasks("/does/not/exist", null)).toThrow(/there is no directory/);
  const broken = mkdtempSync(path.join(tmpdir(), "deepswe-"));
  cpSync(path.join(TASKS, ID), path.join(broken, "renamed"), { recursive: true });
  expect(() => readTasks(broken, null)).toThrow(/'renamed'.*metadata.task_id/);
  rmSync(path.join(broken, "renamed", "tests/grader.py"));
  expect(() => readTasks(broken, null)).toThrow(/lacks tests\/grader.py/);
  rmSync(broken, { recursive: true });
});

it.each([
  ['{"reward": 1}', true, { reward: 1, evaluation_completed: true }],
  ['{"reward": 1}', false, { reward: 0, evaluation_completed: false }],
  ['{"reward": 0.5}', true, { reward: 0, evaluation_completed: false }],
  ['{"reward": null}', true, { reward: 0, evaluation_completed: false }],
  ["no JSON", true, { reward: 0, evaluation_completed: false }],
  [null, true, { reward: 0, evaluation_completed: false, verifier_exit_code: 3 }],
])("reads the result %j", (text, hasReport, expected) => {
  expect(verdictOf(text, hasReport, 3)).toMatchObject(expected);
});
