import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  forgedFunctions,
  forgedPrograms,
  readingStyles,
  readingTests,
  rightFunctions,
} from "../../libraries/python-answers/test-programs.ts";
import app from "./app.ts";

const block = (code: string) => messageItem(`Here:\n\`\`\`python\n${code}\n\`\`\``);
const rows = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const solutions = [
  "print(sum(map(int, input().split())))",
  "input()\nv = list(map(int, input().split()))\nprint(max(v) - min(v))",
  "import sys\nprint('\\n'.join(sys.stdin.read().split('\\n')[::-1]))",
  "def longest_run(v):\n    return max((len(list(g)) for _, g in groupby(v)), default=0)",
  "class Solution:\n    def merge(self, a: List[int], b: List[int]):\n        return tuple(sorted(a + b))",
];

describe.skipIf(skipWithoutBubblewrap)("code_gen", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, { config: { unit_test_timeout_secs: 5 } });
  });
  afterAll(() => server.close());

  it("rewards programs that pass all tests of the example rows", async () => {
    expect(rows).toHaveLength(solutions.length);
    const right = await Promise.all(
      rows.map((row, index) => server.verify(verifyBody(row, block(solutions[index] ?? "")))),
    );
    expect(right.map(({ body }) => body.reward)).toEqual([1, 1, 1, 1, 1]);
    const wrong = await Promise.all(
      rows.map((row) => server.verify(verifyBody(row, block("print('nothing')")))),
    );
    expect(wrong.map(({ body }) => body.reward)).toEqual([0, 0, 0, 0, 0]);
  });

  it("scores mistakes of the model as 0 and refuses invalid rows", async () => {
    const [row] = rows;
    const verify = async (item: ReturnType<typeof messageItem>, changed = row) =>
      server.verify(verifyBody(changed, item));
    expect((await verify(messageItem("no code"))).body).toMatchObject({ reward: 0, result: null });
    expect((await verify(block("while True: pass"))).body).toMatchObject({ reward: 0, result: [-3] });
    expect((await verify(block("import os; os._exit(0)"))).body).toMatchObject({
      reward: 0,
      result: [-1, -1, -1],
    });
    expect((await verify(block("print(1)"), {})).status).toBe(422);
  });

  it.each(Object.entries(readingStyles))("rewards a program that uses %s", async (_name, code) => {
    const row = { verifier_metadata: { unit_tests: readingTests } };
    expect((await server.verify(verifyBody(row, block(code)))).body).toMatchObject({ reward: 1 });
  });

  it.each(forgedPrograms)("does not reward a program that forges by %s", async (_title, code) => {
    const row = { verifier_metadata: { unit_tests: readingTests } };
    expect(await server.verify(verifyBody(row, block(code)))).toMatchObject({
      status: 200,
      body: { reward: 0 },
    });
  });

  const functionRow = {
    verifier_metadata: {
      unit_tests: { inputs: ["[1, 2, 3]", "[]", "[10, -4]"], outputs: ["6", "0", "6"], fn_name: "add" },
    },
  };

  it.each(rightFunctions("add"))("rewards a function that uses %s", async (_title, code) => {
    expect((await server.verify(verifyBody(functionRow, block(code)))).body).toMatchObject({ reward: 1 });
  });

  it.each(forgedFunctions("add"))("does not reward a function that forges by %s", async (_title, code) => {
    expect(await server.verify(verifyBody(functionRow, block(code)))).toMatchObject({
      status: 200,
      body: { reward: 0 },
    });
  });

  it("reads packed tests, which win over plain ones, and refuses broken ones", async () => {
    const packed = deflateSync(JSON.stringify({ inputs: ["1 2"], outputs: ["3"] })).toString("base64");
    const verify = (unit_tests: object) =>
      server.verify(verifyBody({ verifier_metadata: { unit_tests } }, block(solutions[0] ?? "")));
    expect((await verify({ packed })).body).toMatchObject({ reward: 1, result: [true] });
    expect((await verify({ packed, inputs: ["1 2"], outputs: ["4"] })).body.reward).toBe(1);
    expect((await verify({ packed: "not base64!!" })).status).toBe(422);
    const bomb = deflateSync(Buffer.alloc(300 << 20)).toString("base64");
    expect((await verify({ packed: bomb })).status).toBe(422);
    const incomplete = deflateSync(JSON.stringify({ inputs: [] })).toString("base64");
    expect((await verify({ packed: incomplete })).status).toBe(422);
  });

  it("fails without a sandbox instead of scoring 0", async () => {
    const without = await createTestServer(app, { config: { sandbox_provider: { openshell: {} } } });
    const reply = await without.verify(verifyBody(rows[0], block(solutions[0] ?? "")));
    expect(reply).toMatchObject({
      status: 503,
      body: { error: { class: "sandbox_unavailable", retryable: false } },
    });
    await without.close();
  });
});
