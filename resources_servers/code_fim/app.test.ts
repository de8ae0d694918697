import { fileURLToPath } from "node:url";
import { messageItem, skipWithoutBubblewrap } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeServer } from "../../libraries/python-answers/test-server.ts";
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
