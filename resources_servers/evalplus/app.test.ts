import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const rows = readFileSync(here("data/example.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const block = (code: string) => messageItem(`Here:\n\`\`\`python\n${code}\n\`\`\``);

const solutions = [
  "def add_all(values):\n    return sum(values)",
  "def middle(a, b):\n    return a + (b - a) / 2",
  "def is_palindrome(text):\n    return list(text) == list(reversed(text))",
  "from collections import Counter\ndef count_words(text):\n    return dict(Counter(text.split()))",
  "import math\ndef gcd(a, b):\n    return math.gcd(a, b)",
];
const config = { dataset: "humaneval", problems_fpath: here("data/example_problems.jsonl") };

describe.skipIf(skipWithoutBubblewrap)("evalplus", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, { config, directory: here("./") });
  });
  afterAll(() => server.close());
  const verify = async (index: number, code: string) =>
    (await server.verify(verifyBody(rows[index], block(code)))).body;

  it("rewards functions that agree with the reference on all inputs", async () => {
    const bodies = await Promise.all(solutions.map((code, index) => verify(index, code)));
    expect(bodies.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1]);
    expect(bodies[4].metadata).toEqual({ base_details: [true, true], plus_details: [true, true, true] });
  });

  it("tells base from plus tests, and counts what is slow, raises or ends the process as wrong", async () => {
    expect(await verify(2, 'def is_palindrome(text):\n    return text == "abba"')).toMatchObject({
      ...{ reward: 0, is_correct: true, base_status: "pass", plus_status: "fail" },
    });
    expect(await verify(0, "def add_all(values):\n    while values: pass\n    return 0")).toMatchObject({
      ...{ reward: 0, base_status: "fail", metadata: { base_details: [false, true] } },
    });
    expect(await verify(0, "import os\nos._exit(0)")).toMatchObject({ reward: 0, base_status: "timeout" });
  });

  it("refuses problems that cannot be read, at the start", async () => {
    const wrong = createTestServer(app, { config: { ...config, problems_fpath: "/nowhere.jsonl" } });
    await expect(wrong).rejects.toThrow(/nowhere.jsonl. cannot be used/);
  });
});
