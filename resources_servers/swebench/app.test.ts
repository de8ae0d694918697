import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";

const image = mkdtempSync(path.join(tmpdir(), "swebench-image-"));
const testbed = path.join(image, "testbed");
const git = (...words: string[]) =>
  execFileSync("git", ["-C", testbed, "-c", "user.name=x", "-c", "user.email=x@example.org", ...words], {
    encoding: "utf8",
  });
const WRONG = "def double(x):\n    return x\n";
const RIGHT = "def double(x):\n    return 2 * x\n";
const script = `exec 2>&1
cd /testbed
printf 'import unittest\\nfrom double import double\\nclass Test(unittest.TestCase):\\n    def test_a(self): self.assertEqual(double(2), 4)\\n' > test_double.py
echo '>>>>> Start Test Output'
python3 -m unittest -v test_double
echo '>>>>> End Test Output'
`;
let row: Record<string, unknown>;

describe.skipIf(skipWithoutBubblewrap)("swebench", () => {
  beforeAll(() => {
    chmodSync(image, 0o755);
    mkdirSync(testbed);
    writeFileSync(path.join(testbed, "double.py"), WRONG);
    git("init", "-q", "-b", "main");
    git("add", "-A");
    git("commit", "-qm", "base");
    const base_commit = git("rev-parse", "HEAD").trim();
    writeFileSync(path.join(testbed, "double.py"), RIGHT);
    const patch = git("diff");
    git("commit", "-qam", "solution");
    git("tag", "solved");
    git("checkout", "-q", base_commit);
    const names = [
      "problem_statement",
      "hints_text",
      "created_at",
      "version",
      "difficulty",
      "subset",
      "split",
    ];
    row = {
      ...Object.fromEntries(names.map((name) => [name, ""])),
      ...{ repo: "example/double", instance_id: "example__double-1", base_commit, patch, test_patch: "" },
      ...{
        environment_setup_commit: base_commit,
        FAIL_TO_PASS: '["test_a (test_double.Test.test_a)"]',
        PASS_TO_PASS: "[]",
      },
      ...{ eval_script: script, log_parser: "unittest", image },
    };
  });
  afterAll(() => rmSync(image, { recursive: true, force: true }));

  const play = async (command: string | undefined, changed: Record<string, unknown> = {}, config = {}) => {
    const server = await createTestServer(app, {
      config: { sandbox_provider: { bubblewrap: {} }, ...config },
    });
    const jar = server.newJar();
    const seeded =
      command === undefined ? undefined : await server.post("/seed_session", { ...row, ...changed }, jar);
    const tool = command === undefined ? undefined : await server.post("/bash", { command }, jar);
    const verified = await server.post(
      "/verify",
      verifyBody({ ...row, ...changed }, messageItem("done")),
      jar,
    );
    await server.close();
    return { seeded, tool, ...verified };
  };

  it("rewards a repair in the sandbox of the session", async () => {
    const { seeded, body } = await play(`printf '${RIGHT.replaceAll("\n", "\\n")}' > double.py`);
    expect(seeded?.body.sandbox_handle).toEqual(expect.any(String));
    expect(body).toMatchObject({
      reward: 1,
      resolved: true,
      evaluation_completed: true,
      instance_id: "example__double-1",
    });
    expect(body.model_patch).toContain("+    return 2 * x");
  });

  it("hides the commits after the base commit", async () => {
    const { tool, body } = await play(
      "git log --all --format=%s; git tag; git show solved; git fsck --lost-found",
    );
    expect(tool?.body).toContain("base");
    expect(tool?.body).not.toContain("solution");
    expect(body).toMatchObject({ reward: 0, resolved: false, model_patch: null });
  });

  it("does not reward a change that breaks the file", async () => {
    expect((await play("echo '(' > double.py")).body).toMatchObject({
      reward: 0,
      evaluation_completed: true,
    });
  });

  it("grades the reference solution to test itself", async () => {
    expect((await play(undefined, {}, { is_verifying_golden_patch: true })).body).toMatchObject({
      reward: 1,
    });
    const broken = { patch: "no patch" };
    const { body } = await play(undefined, broken, { is_verifying_golden_patch: true });
    expect(body).toMatchObject({ reward: 0, evaluation_completed: false });
  });

  it("ends tests without an end", async () => {
    const config = { is_verifying_golden_patch: true, evaluation_timeout: 2 };
    const { body } = await play(undefined, { eval_script: "sleep 60" }, config);
    expect(body).toMatchObject({ reward: 0, evaluation_completed: false });
  });

  it("rejects a call without a session, and rows that it cannot run", async () => {
    expect((await play(undefined)).status).toBe(409);
    expect((await play(undefined, { eval_script: null })).status).toBe(422);
    expect((await play(undefined, { FAIL_TO_PASS: "no list" })).status).toBe(422);
  });

  it("fails without a score if there is no sandbox", async () => {
    const { status, body } = await play(
      undefined,
      { image: "/does/not/exist" },
      { is_verifying_golden_patch: true },
    );
    expect(status).toBe(503);
    expect(JSON.stringify(body)).toContain("sandbox_unavailable");
  });
});
