import { readFileSync } from "node:fs";
import { createTestServer } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const rollouts = readFileSync(new URL("data/example_rollouts.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

it("counts resolved, graded and applied patches, in total and for each task", async () => {
  const server = await createTestServer(definition);
  const { status, body } = await server.post("/aggregate_metrics", { verify_responses: rollouts });
  await server.close();
  expect(status).toBe(200);
  expect(body.key_metrics).toEqual({
    "pass@1/accuracy": 80,
    "pass@1[avg-of-1]/accuracy": 80,
    "mean/reward": 0.8,
    resolved_task_count: 4,
    task_count: 5,
    resolved_task_rate: 80,
    eval_error_rate: 0,
    tests_status_rate: 100,
  });
  expect(body.agent_metrics).toMatchObject({
    max_rollouts_per_task: 1,
    patch_applied_rate: 100,
    "tests_status/fail_to_pass_success": expect.any(Number),
    "tests_status/pass_to_fail_failure": 0,
  });
  expect(body.group_level_metrics[4]).toMatchObject({
    instance_id: "tiny__shop-5",
    resolved: false,
    resolved_rollout_count: 0,
    eval_report_rollout_count: 1,
  });
});
