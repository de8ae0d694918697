import { readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MockModelEndpoint } from "../src/testing/mock-model-endpoint.ts";
import { project, runGym } from "./gym-process.ts";

let rewardModel: MockModelEndpoint;
let cwd: string;
beforeEach(async () => {
  rewardModel = await new MockModelEndpoint({
    answer: () => ({ text: '{"score_1": 4, "score_2": 2, "ranking": 2}' }),
  }).start();
  const model = {
    openai_model: "scripted",
    openai_base_url: `${rewardModel.origin}/v1`,
    openai_api_key: "unused",
  };
  cwd = await project({
    "reward.yaml": JSON.stringify({
      reward_model: { responses_api_models: { openai_model: { entrypoint: "app.ts", ...model } } },
    }),
  });
});
afterEach(() => rewardModel.close());

const server = "++genrm_compare_resources_server.resources_servers.genrm_compare";
const run = (...more: string[]) =>
  runGym(
    [
      ...["eval", "run", "--env-yaml", "none", "--model-type", "random_model", "--no-health-check"],
      ...["--resources-server", "genrm_compare", "--config", "reward.yaml", "--num-repeats", "4"],
      ...[`${server}.genrm_model_server.name=reward_model`, "-o", "rollouts.jsonl"],
      ...more,
    ],
    { cwd },
  );

it("compares the rollouts of a prompt in a server with a process of its own", async () => {
  const { exitCode, stderr } = await run("++hosting=process");
  expect(exitCode, stderr).toBe(0);
  const lines = readFileSync(path.join(cwd, "rollouts.jsonl"), "utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(20);
  // Each response is the first of one pair and the second of another one.
  expect(new Set(lines.map((line) => JSON.parse(line).reward))).toEqual(new Set([3]));
});

it.each([
  ["several processes", [`${server}.num_workers=2`], "wait for each other in one process"],
  ["a queue", ["--queue", "nats://127.0.0.1:9"], "The workers of a queue have processes of their own"],
  ["other repeats", ["++num_repeats=3"], "but task 0 has 3. Set --num-repeats 4"],
  ["too little concurrency", ["--concurrency", "2"], "at least 4 rollouts must run at once"],
])("rejects %s before servers start", async (_, more, message) => {
  const asked = rewardModel.requests.length;
  const { exitCode, stderr } = await run(...more);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("starting");
  expect(exitCode).not.toBe(0);
  expect(rewardModel.requests).toHaveLength(asked);
});
