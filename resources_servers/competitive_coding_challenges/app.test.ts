import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";

const cpp = (code: string) => messageItem(`\`\`\`cpp\n${code}\n\`\`\``);
const SUM =
  "int main() { long long n, x, run = 0, best = -4e18; cin >> n; while (n--) { cin >> x; run = max(run, 0LL) + x; best = max(best, run); } cout << best; }";
const SMALL = SUM.replaceAll("long long", "int").replace("0LL", "0").replace("-4e18", "-2e9");

describe.skipIf(skipWithoutBubblewrap)("competitive_coding_challenges", () => {
  const start = (changed = {}) =>
    createTestServer(app, {
      config: { test_file: "data/example_metadata.jsonl", test_batch_size: 2, ...changed },
      directory: fileURLToPath(new URL("./", import.meta.url)),
    });
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  const verify = async (row: Record<string, unknown>, code: string) =>
    (await server.verify(verifyBody(row, cpp(code)))).body;
  const fences = { problem_id: "fences" };

  it.each([
    ["the whole problem", {}, SUM, 1, { small: 40, full: 60 }],
    ["one subtask of a partial solution", { subtask: "small" }, SMALL, 1, { small: 40, full: 60 }],
    ["the subtask it fails", { subtask: "full" }, SMALL, 0, { small: 40, full: 0 }],
    ["more points than there are", { subtask: "full", subtask_score: 61 }, SUM, 0, { small: 40, full: 60 }],
  ])("scores %s", async (_title, row, code, reward, scores) => {
    const body = await verify({ ...fences, ...row }, code);
    const results = (body["details"] as { test_case_results: Record<string, { score: number }> })
      .test_case_results;
    expect(body["reward"]).toBe(reward);
    expect(Object.fromEntries(Object.entries(results).map(([name, { score }]) => [name, score]))).toEqual(
      scores,
    );
  });

  it("hides the tests from the compiler", async () => {
    const body = await verify(fences, 'const char* all =\n#include "../correct_output.txt"\n;int main() {}');
    expect(body).toMatchObject({ reward: 0, num_tests_run: 0 });
  });

  it("plays an interactive problem", async () => {
    const guess =
      'int main() { int a = 1, b = 1000; string s; while (a < b) { int m = (a + b) / 2; cout << "ask " << m << endl; cin >> s; if (s == "higher") a = m + 1; else b = m; } cout << "answer " << a << endl; }';
    expect((await verify({ problem_id: "guess" }, guess))["reward"]).toBe(1);
    expect(
      (await verify({ problem_id: "guess" }, 'int main() { cout << "answer 637" << endl; }'))["reward"],
    ).toBe(0);
  });

  it("gives the share of tests that passed", async () => {
    const partial = await start({ reward_mode: "fraction" });
    const { body } = await partial.verify(verifyBody(fences, cpp(SMALL)));
    await partial.close();
    expect(body).toMatchObject({ reward: 0.75, num_tests_run: 4 });
  });

  it("explains an unknown problem", async () => {
    expect(await verify({ problem_id: "nope" }, SUM)).toMatchObject({
      reward: 0,
      details: { error: "There is no problem 'nope'." },
    });
  });
});
