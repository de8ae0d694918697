import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgedTests, rightFunctions } from "../../libraries/python-answers/test-programs.ts";
import app from "./app.ts";

const task = {
  task_id: "t/1",
  entry_point: "add",
  setup_code: "LIMIT = 10",
  test: "def check(candidate):\n    assert candidate([1, 2, 3]) == 6\n    assert candidate([]) == 0",
};
const block = (code: string) => messageItem(`\`\`\`python\n${code}\n\`\`\``);

describe.skipIf(skipWithoutBubblewrap)("scicodepile", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, {
      config: { subprocess_timeout: 5 },
      directory: fileURLToPath(new URL("./", import.meta.url)),
    });
  });
  afterAll(() => server.close());
  const verify = async (code: string, changed = {}) =>
    (await server.verify(verifyBody({ verifier_metadata: { ...task, ...changed } }, block(code)))).body;

  it.each(rightFunctions("add"))("rewards a function that uses %s", async (_title, code) => {
    expect(await verify(code)).toMatchObject({ reward: 1, status: "pass", failure_reason: null });
  });

  it.each(forgedTests("add"))("does not reward a function that forges by %s", async (_title, code) => {
    expect(await verify(code)).toMatchObject({ reward: 0, failure_reason: null });
  });

  it.each([
    ["def add(values): return 1", {}, "fail", null],
    ["def add(values) return", {}, "error", null],
    ["def other(): pass", {}, "entry_point_missing", null],
    ["def add(values):\n    while True: pass", {}, "timeout", null],
    ["add = sum", { setup_code: "1 / 0" }, "error", "setup_code_failed"],
    ["add = sum", { test: "def (" }, "error", "test_code_failed"],
    ["add = sum\ndef check(f): pass", { test: "x = 1" }, "error", "test_defines_no_check"],
    ["add = sum", { test: null }, "malformed_task", "malformed_task"],
  ])("%s", async (code, changed, status, failure_reason) => {
    expect(await verify(code, changed)).toMatchObject({ reward: 0, status, failure_reason });
  });
});
