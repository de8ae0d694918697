import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgedFunctions, rightFunctions } from "../../libraries/python-answers/test-programs.ts";
import { codeServer, pythonAnswer } from "../../libraries/python-answers/test-server.ts";
import app from "./app.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const completions = [
  " * height",
  "        best = max(best, value)",
  "    if value > high:\n        return high",
  "    words.reverse()",
  "*= factor",
];
const config = { problems_fpath: here("data/example_problems.jsonl"), timeout: 2 };

describe.skipIf(skipWithoutBubblewrap)("code_fim", () => {
  let server: Awaited<ReturnType<typeof codeServer>>;
  beforeAll(async () => {
    server = await codeServer(app, new URL("./", import.meta.url), config);
  });
  afterAll(() => server.close());
  const verify: typeof server.verify = (index, code) => server.verify(index, code);

  it("rewards completions that pass the tests, even if they repeat the prefix and the suffix", async () => {
    const bodies = await Promise.all(completions.map((code, index) => verify(index, code)));
    expect(bodies.map(({ status }) => status)).toEqual(Array(5).fill("passed"));
    const whole = '    words = text.split()\n    words.reverse()\n    return " ".join(words)';
    expect(await verify(3, whole)).toMatchObject({ reward: 1, completion: "    words.reverse()\n" });
  });

  it("reports the reason for a failure", async () => {
    expect(await verify(0, " + height")).toMatchObject({
      reward: 0,
      status: expect.stringMatching(/^failed: /),
    });
    expect(await verify(1, "        while True: pass")).toMatchObject({ reward: 0, status: "timed out" });
    expect(await server.answer(0, messageItem("no code"))).toMatchObject({
      ...{ reward: 0, status: null, passed: false },
    });
  });
});

describe.skipIf(skipWithoutBubblewrap)("tests of code_fim", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-fim-"));
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    const problem = {
      task_id: "Own/sum",
      prompt: "import math\n\ndef twice(values):\n    return values + values\n\ndef unused():\n    pass\n\n",
      suffix: "\n",
      test: `def check(candidate):
    assert candidate([1, 2, 3]) == 6
    assert candidate(twice([1])) == math.floor(2.5)
    for value in map(candidate, [[]]):
        assert value == 0
    assert helper([4, 5]) == 9
`,
      entry_point: "add_all",
    };
    const problems_fpath = path.join(directory, "problems.jsonl");
    writeFileSync(problems_fpath, JSON.stringify(problem));
    server = await createTestServer(app, { config: { problems_fpath, timeout: 5 }, directory: here("./") });
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true });
  });
  const verify = async (code: string) => {
    const row = { verifier_metadata: { task_id: "Own/sum" } };
    return server.verify(verifyBody(row, pythonAnswer(`${code}\nhelper = add_all`)));
  };

  it.each(rightFunctions("add_all"))("reward a function that uses %s", async (_title, code) => {
    expect((await verify(code)).body).toMatchObject({ reward: 1, status: "passed" });
  });

  it.each(forgedFunctions("add_all"))("do not reward a function that forges by %s", async (_title, code) => {
    expect(await verify(code)).toMatchObject({ status: 200, body: { reward: 0 } });
  });
});
