import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createTestServer, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgedFunctions, rightFunctions } from "../../libraries/python-answers/test-programs.ts";
import { codeServer, pythonAnswer } from "../../libraries/python-answers/test-server.ts";
import app from "./app.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const solutions = [
  "def add_all(values):\n    return sum(values)",
  "def middle(a, b):\n    return a + (b - a) / 2",
  "def is_palindrome(text):\n    return list(text) == list(reversed(text))",
  "from collections import Counter\ndef count_words(text):\n    return dict(Counter(text.split()))",
  "import math\ndef gcd(a, b):\n    return math.gcd(a, b)",
];
const config = { dataset: "humaneval", problems_fpath: here("data/example_problems.jsonl") };

describe.skipIf(skipWithoutBubblewrap)("evalplus", () => {
  let server: Awaited<ReturnType<typeof codeServer>>;
  beforeAll(async () => {
    server = await codeServer(app, new URL("./", import.meta.url), config);
  });
  afterAll(() => server.close());
  const verify: typeof server.verify = (index, code) => server.verify(index, code);

  it("rewards functions that agree with the reference on all inputs", async () => {
    const bodies = await Promise.all(solutions.map((code, index) => verify(index, code)));
    expect(bodies.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1]);
    expect(bodies[4].metadata).toEqual({ base_details: [true, true], plus_details: [true, true, true] });
  });

  it.each(rightFunctions("add_all"))("rewards a function that uses %s", async (_title, code) => {
    expect(await verify(0, code)).toMatchObject({ reward: 1 });
  });

  it.each(forgedFunctions("add_all"))(
    "does not reward a function that forges by %s",
    async (_title, code) => {
      expect(await verify(0, code)).toMatchObject({ reward: 0 });
    },
  );

  it("reports base and plus tests separately, and counts time-outs, errors and exits as wrong", async () => {
    expect(await verify(2, 'def is_palindrome(text):\n    return text == "abba"')).toMatchObject({
      ...{ reward: 0, is_correct: true, base_status: "pass", plus_status: "fail" },
    });
    expect(await verify(0, "def add_all(values):\n    while values: pass\n    return 0")).toMatchObject({
      ...{ reward: 0, base_status: "fail", metadata: { base_details: [false, true] } },
    });
    expect(await verify(0, "import os\nos._exit(0)")).toMatchObject({ reward: 0, base_status: "timeout" });
  });

  it("converts arguments of MBPP+ functions to tuples, sets and numbers that JSON cannot represent", async () => {
    const kinds = "def kinds(*given):\n    return repr(given)\n";
    const problem = (number: number, input: unknown[]) => ({
      ...{ task_id: `Mbpp/${number}`, prompt: '"""Show the arguments."""\n', canonical_solution: kinds },
      ...{ entry_point: "kinds", base_input: [input], plus_input: [], atol: 0 },
    });
    const shown: Record<number, [given: unknown[], taken: string]> = {
      1: [[[1]], "([1],)"],
      2: [[[1, 2], [3]], "((1, 2), (3,))"],
      63: [
        [
          [
            [1, 2],
            [3, 4],
          ],
        ],
        "([(1, 2), (3, 4)],)",
      ],
      75: [[[[1], [2]], 6], "([(1,), (2,)], 6)"],
      106: [[[1], [2]], "([1], (2,))"],
      115: [[[[1], []]], "([{1}, {}],)"],
      124: [["0.5", "1j"], "(0.5, 1j)"],
      252: [["1+2j"], "((1+2j),)"],
      278: [[[1, [2, [3]]]], "((1, (2, [3])),)"],
      307: [[["a", 5], 0, 1], "(('a', 5), 0, 1)"],
      401: [[[[1], [2]], [[3]]], "(((1,), (2,)), ((3,),))"],
      580: [[[1, [2, [3]]]], "((1, (2, (3,))),)"],
      722: [[{ a: [1.5, 2] }, 1], "({'a': (1.5, 2)}, 1)"],
    };
    const problems = Object.entries(shown).map(([number, [given]]) => problem(Number(number), given));
    const file = path.join(mkdtempSync(path.join(tmpdir(), "nemo-gym-mbpp-")), "problems.jsonl");
    writeFileSync(file, problems.map((each) => JSON.stringify(each)).join("\n"));
    const mbpp = await createTestServer(app, {
      config: { dataset: "mbpp", problems_fpath: file },
      directory: here("./"),
    });
    const rewards = await Promise.all(
      Object.entries(shown).map(async ([number, [, taken]]) => {
        const row = { verifier_metadata: { task_id: `Mbpp/${number}` } };
        const code = `def kinds(*given):\n    assert repr(given) == ${JSON.stringify(taken)}, given\n    return repr(given)`;
        const { body } = await mbpp.verify(verifyBody(row, pythonAnswer(code)));
        return [number, body.reward];
      }),
    );
    await mbpp.close();
    rmSync(path.dirname(file), { recursive: true });
    expect(rewards).toEqual(Object.keys(shown).map((number) => [number, 1]));
  });

  it("refuses to start with unreadable problems", async () => {
    const wrong = createTestServer(app, { config: { ...config, problems_fpath: "/nowhere.jsonl" } });
    await expect(wrong).rejects.toThrow(/nowhere.jsonl. cannot be used/);
  });
});
