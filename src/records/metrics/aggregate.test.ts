import { describe, expect, it } from "vitest";
import { loads } from "../../base/python/json/json-loads.ts";
import { aggregateMetrics } from "./aggregate.ts";
import type { Row } from "./rollout-row.ts";

const row = (task: number, rollout: number, fields: Row): Row => ({
  _ng_task_index: task,
  _ng_rollout_index: rollout,
  ...fields,
});

describe("aggregateMetrics", () => {
  it("computes the statistics of each task and of all rollouts, and the key metrics", () => {
    const result = aggregateMetrics([
      row(5, 1, { reward: 0, response: { usage: { output_tokens: 4, details: { x: 1 } } } }),
      row(2, 0, { reward: 1 }),
      row(5, 0, { reward: 1, response: { usage: { output_tokens: 2 } } }),
    ]);
    const { num_repeats, ...metrics } = result.agent_metrics;
    expect(num_repeats).toBe(2);
    const own = Object.entries(metrics).filter(([key]) => !key.includes("_across_repeats/"));
    expect(Object.fromEntries(own)).toEqual({
      "mean/reward": 2 / 3,
      "mean/output_tokens": 3,
      "max/reward": 1,
      "max/output_tokens": 4,
      "min/reward": 0,
      "min/output_tokens": 2,
      "median/reward": 1,
      "median/output_tokens": 3,
      "std/reward": expect.closeTo(Math.sqrt(1 / 3), 12),
      "std/output_tokens": Math.SQRT2,
    });
    expect(result.key_metrics).toEqual({ "mean/reward": 2 / 3, "mean/output_tokens": 3 });
    expect(result.group_level_metrics.map((group) => group["_ng_task_index"])).toEqual([2, 5]);
    expect(Object.keys(result.group_level_metrics[1] ?? {})).toEqual([
      "_ng_task_index",
      ...["mean", "max", "min", "median", "std"].flatMap((name) => [
        `${name}/reward`,
        `${name}/output_tokens`,
      ]),
      "sample",
      "num_rollouts",
      "expected_num_rollouts",
      "missing_num_rollouts",
      "reward_profile_completion_pct",
      "rollout_infos",
    ]);
    expect(result.group_level_metrics[1]?.["rollout_infos"]).toEqual([
      { rollout_id: "5:0", _ng_task_index: 5, _ng_rollout_index: 0, reward: 1, output_tokens: 2 },
      { rollout_id: "5:1", _ng_task_index: 5, _ng_rollout_index: 1, reward: 0, output_tokens: 4 },
    ]);
  });

  it("prefers usage in the statistics and the row's own field in the infos", () => {
    const result = aggregateMetrics([
      row(0, 0, { tokens: 9, a: 1, response: { usage: { tokens: 2, other: true } } }),
    ]);
    expect(result.agent_metrics["mean/tokens"]).toBe(2);
    const infos = result.group_level_metrics[0]?.["rollout_infos"] as Row[] | undefined;
    expect(Object.entries(infos?.[0] ?? {}).slice(3)).toEqual([
      ["tokens", 9],
      ["other", 1],
      ["a", 1],
    ]);
  });

  it("omits the deviation of a column with a single value", () => {
    const { agent_metrics: metrics } = aggregateMetrics([
      row(0, 0, { reward: 1, bonus: 4 }),
      row(0, 1, { reward: 0 }),
    ]);
    expect(metrics).toHaveProperty(["std/reward"]);
    expect(metrics).not.toHaveProperty(["std/bonus"]);
  });

  it("accepts the numbers of the exact JSON reader", () => {
    const rows = loads(
      '[{"_ng_task_index": 0, "_ng_rollout_index": 0, "reward": 1.0, "big": 12345678901234567890}]',
    );
    expect(aggregateMetrics(rows as Row[]).agent_metrics).toMatchObject({
      "mean/reward": 1,
      "mean/big": 12345678901234567000,
    });
  });

  it("passes tasks to the hooks in request order and merges their results", () => {
    let seen: Row[][] = [];
    const result = aggregateMetrics(
      [row(1, 1, { reward: 1 }), row(0, 0, { reward: 0 }), row(1, 0, { reward: 0 })],
      {
        computeMetrics(tasks) {
          seen = tasks;
          return {
            "mean/reward": 7,
            elo: 3,
            per_task_metrics: [
              { _ng_task_index: 1, rank: 2 },
              { _ng_task_index: 9, rank: 1 },
            ],
          };
        },
        keyMetrics: (metrics) => ({ elo: metrics["elo"] }),
      },
    );
    expect(seen.map((task) => task.map((member) => member["_ng_rollout_index"]))).toEqual([[0], [1, 0]]);
    expect(result.agent_metrics).toMatchObject({ "mean/reward": 7, elo: 3 });
    expect(result.agent_metrics).not.toHaveProperty("per_task_metrics");
    expect(result.group_level_metrics.map((group) => group["rank"])).toEqual([undefined, 2]);
    expect(result.key_metrics).toEqual({ elo: 3 });
  });

  it.each<[string, Row[], RegExp]>([
    ["a missing index", [{ _ng_task_index: 0, reward: 1 }], /lacks '_ng_rollout_index'/],
    ["an invalid index", [row(0, 0, { _ng_task_index: "x" })], /"x", which is not an index/],
    ["a repeated rollout", [row(3, 1, {}), row(3, 1, {})], /Rollout 1 of task 3/],
    [
      "an infinite value",
      [row(0, 0, { reward: Number.POSITIVE_INFINITY })],
      /'reward' of a rollout is infinite/,
    ],
    ["a row that is not an object", [null as unknown as Row], /not an object/],
  ])("rejects %s", (_, rows, message) => {
    expect(() => aggregateMetrics(rows)).toThrow(message);
  });

  it("accepts any field name", () => {
    const fields = loads('{"toString": 3, "constructor": 2, "hasOwnProperty": 1, "__proto__": 4}') as Row;
    const { agent_metrics: metrics } = aggregateMetrics([
      Object.assign(fields, { _ng_task_index: 0, _ng_rollout_index: 0 }),
    ]);
    expect(metrics).toMatchObject({ "mean/toString": 3, "mean/constructor": 2, "mean/hasOwnProperty": 1 });
    // Members that start with an underscore belong to the run.
    expect(Object.keys(metrics)).not.toContain("mean/__proto__");
  });

  it("stores many different columns without a dense table", () => {
    const rows = Array.from({ length: 5000 }, (_, index) => row(index, 0, { [`field${index}`]: index }));
    const names = Object.keys(aggregateMetrics(rows).agent_metrics);
    expect(names.filter((name) => name.startsWith("mean/"))).toHaveLength(5_000);
  });
});

describe("usage and a field of the same name", () => {
  const row = (usage: unknown) => ({
    _ng_task_index: 0,
    _ng_rollout_index: 0,
    reward: 1,
    steps: 4,
    response: { usage },
  });
  const only = (usage: unknown) => aggregateMetrics([row(usage)]);

  it("counts usage in the statistics and shows the row's own value in the infos, except the reward", () => {
    const { agent_metrics, group_level_metrics } = only({ steps: 9, reward: 5 });
    expect(agent_metrics).toMatchObject({ "mean/steps": 9, "mean/reward": 5 });
    expect(group_level_metrics[0]?.["rollout_infos"]).toMatchObject([{ steps: 4, reward: 5 }]);
  });

  it("has no value when usage is not a number", () => {
    const { agent_metrics, group_level_metrics } = only({ steps: null });
    expect(agent_metrics).not.toHaveProperty("mean/steps");
    expect(group_level_metrics[0]?.["rollout_infos"]).toMatchObject([{ steps: 4 }]);
  });

  it("requires objects for response and usage", () => {
    expect(() => only([1])).toThrow("'usage'");
    expect(() => aggregateMetrics([{ ...row({}), response: null }])).toThrow("'response'");
  });
});

describe("repeats and masked samples", () => {
  const row = (task: number, rollout: number, reward: number, more: Row = {}) => ({
    _ng_task_index: task,
    _ng_rollout_index: rollout,
    reward,
    ...more,
  });

  it("describes each repeat and how they vary", () => {
    const { agent_metrics, repeat_level_metrics } = aggregateMetrics([
      row(0, 0, 1),
      row(0, 1, 0),
      row(1, 0, 1),
    ]);
    expect(repeat_level_metrics).toMatchObject([
      { _ng_rollout_index: 0, sample_count: 2, missing_count: 0, "mean/reward": 1, "ci_low_95/reward": 1 },
      { _ng_rollout_index: 1, sample_count: 1, missing_count: 1, "mean/reward": 0 },
    ]);
    expect(agent_metrics).toMatchObject({
      num_repeats: 2,
      "mean_across_repeats/mean/reward": 0.5,
      "se_across_repeats/mean/reward": 0.5,
    });
  });

  it("counts masked samples and leaves them out of everything else", () => {
    const masked = { mask_sample: true, ng_perf: { num_turns: 2, completion_tokens: 8 } };
    const result = aggregateMetrics([row(0, 0, 1), row(0, 1, 0, masked), row(1, 0, 0, masked)]);
    const coverage = {
      "coverage/measured_rollouts": 1,
      "coverage/masked_rollouts": 2,
      "coverage/measured_tasks": 1,
      "coverage/fully_masked_tasks": 1,
    };
    expect(result.key_metrics).toEqual({ "mean/reward": 1, ...coverage });
    expect(result.repeat_level_metrics).toEqual([]);
    expect(result.perf_summary).toMatchObject({ mean_tokens_per_turn: 4 });
    expect(aggregateMetrics([row(0, 0, 0, masked)]).agent_metrics).toEqual({
      "coverage/measured_rollouts": 0,
      "coverage/masked_rollouts": 1,
      "coverage/measured_tasks": 0,
      "coverage/fully_masked_tasks": 1,
    });
  });
});
