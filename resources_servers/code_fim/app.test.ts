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

const completions = [
  " * height",
  "        best = max(best, value)",
  "    if value > high:\n        return high",
  "    words.reverse()",
  "*= factor",
];
const config = { problems_fpath: here("data/example_problems.jsonl"), timeout: 2 };

describe.skipIf(skipWithoutBubblewrap)("code_fim", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, { config, directory: here("./") });
  });
  afterAll(() => server.close());
  const verify = async (index: number, code: string) =>
    (await server.verify(verifyBody(rows[index], block(code)))).body;

  it("rewards completions that pass the tests, also with prefix and suffix repeated", async () => {
    const bodies = await Promise.all(completions.map((code, index) => verify(index, code)));
    expect(bodies.map(({ status }) => status)).toEqual(Array(5).fill("passed"));
    const whole = '    words = text.split()\n    words.reverse()\n    return " ".join(words)';
    expect(await verify(3, whole)).toMatchObject({ reward: 1, completion: "    words.reverse()\n" });
  });

  it("says what went wrong", async () => {
    expect(await verify(0, " + height")).toMatchObject({
      reward: 0,
      status: expect.stringMatching(/^failed: /),
    });
    expect(await verify(1, "        while True: pass")).toMatchObject({ reward: 0, status: "timed out" });
    expect((await server.verify(verifyBody(rows[0], messageItem("no code")))).body).toMatchObject({
      ...{ reward: 0, status: null, passed: false },
    });
  });
});
