import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { project, runGym } from "./gym-process.ts";
import { startCompletions } from "./support/completions-double.ts";

async function run(mode: Parameters<typeof startCompletions>[0]) {
  const double = await startCompletions(mode);
  onTestFinished(() => double.close());
  const cwd = await project({});
  const model = [
    "--model-type",
    "vllm_model",
    "--model",
    "base",
    "--model-url",
    double.url,
    "--model-api-key",
    "k",
  ];
  const words = ["eval", "run", "--resources-server", "loglikelihood", ...model, "-o", "out/r.jsonl"];
  return { cwd, ...(await runGym(words, { cwd })), requests: double.requests };
}

it("scores the example rows with the log probabilities of an engine", async () => {
  const { cwd, exitCode, stdout, requests } = await run("echo");
  expect(exitCode, stdout).toBe(0);
  expect(requests).toHaveLength(5);
  expect(requests[0]).toMatchObject({
    echo: true,
    logprobs: 1,
    max_tokens: 1,
    temperature: 0,
    model: "base",
  });
  expect(stdout).toContain("Coverage: 5 of 5 rollouts scored");
  expect(stdout).toMatch(/bits_per_byte +\d/);
  const rows = readFileSync(path.join(cwd, "out/r.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const first = rows.find(({ _ng_task_index: index }) => index === 0);
  // " honey" and " steel" have six characters, " paper" has too: the first of equal values.
  expect(first).toMatchObject({ reward: 1, loglikelihoods: [-2.5, -2.5, -2.5], chosen: 0 });
}, 60_000);

it.each(["no logprobs", "no echo"] as const)(
  "fails with the reason for an engine with %s",
  async (mode) => {
    const { exitCode, stdout } = await run(mode);
    expect(exitCode).toBe(1);
    expect(stdout).toContain("invalid_response");
    expect(stdout).toContain("does not support /completions with echo and logprobs");
    expect(stdout).toContain("Coverage: 0 of 5 rollouts scored");
  },
  60_000,
);
