import { describe, expect, it } from "vitest";
import { profileRollouts } from "./profile.ts";
import { RolloutKeyMap } from "./rollout-key-map.ts";
import type { Row } from "./rollout-row.ts";

const input = (task: number, rollout: number, agent = "solo"): Row => ({
  question: `q${task}`,
  agent_ref: { name: agent },
  _ng_task_index: task,
  _ng_rollout_index: rollout,
});
const rollout = (task: number, index: number, reward: number): Row => ({
  reward,
  response: {},
  agent_ref: { name: "solo" },
  _ng_task_index: task,
  _ng_rollout_index: index,
});

describe("profileRollouts", () => {
  it("describes tasks with their sample and the missing rollouts", () => {
    const profile = profileRollouts(
      [input(0, 1, "zeta"), input(0, 0, "Alpha"), input(1, 0)],
      [rollout(0, 1, 1), rollout(0, 0, 0)],
      { allowPartialRollouts: true },
    );
    expect([...profile.tasks]).toEqual([
      expect.objectContaining({
        _ng_task_index: 0,
        "mean/reward": 0.5,
        sample: { question: "q0", agent_ref: { name: "Alpha" } },
        expected_num_rollouts: 2,
        missing_num_rollouts: 0,
      }),
    ]);
    expect(profile.agentMetrics.map((agent) => agent["agent_ref"])).toEqual([
      { name: "Alpha" },
      { name: "zeta" },
    ]);
    expect(profile.summary).toEqual({
      expected_rollout_rows: 3,
      completed_rollout_rows: 2,
      missing_rollout_rows: 1,
      extra_rollout_rows: 0,
      reward_profile_completion_pct: 200 / 3,
      total_input_rows: 2,
      complete_input_rows: 1,
      partial_input_rows: 0,
      missing_input_rows: 1,
    });
  });

  it.each<[string, Row[], Row[], RegExp]>([
    ["a repeated input", [input(0, 0), input(0, 0)], [], /materialized inputs contain rollout 0 of task 0/],
    [
      "a repeated rollout",
      [input(0, 0)],
      [rollout(0, 0, 1), rollout(0, 0, 1)],
      /rollouts contain rollout 0 of task 0/,
    ],
    [
      "a rollout without input",
      [input(0, 0)],
      [rollout(0, 0, 1), rollout(4, 2, 1)],
      /no materialized input: 4:2/,
    ],
    [
      "a missing rollout",
      [input(0, 0), input(0, 1)],
      [rollout(0, 0, 1)],
      /1 of 2 inputs have no rollout: 0:1/,
    ],
    [
      "a row without response",
      [input(0, 0)],
      [{ ...rollout(0, 0, 1), response: null }],
      /0:0 has no 'response'/,
    ],
    [
      "an input without agent",
      [{ ...input(0, 0), agent_ref: {} }],
      [rollout(0, 0, 1)],
      /does not name its agent/,
    ],
  ])("rejects %s", (_, inputs, rollouts, message) => {
    expect(() => profileRollouts(inputs, rollouts)).toThrow(message);
  });
});

describe("RolloutKeyMap", () => {
  it("stores keys of any size", () => {
    const map = new RolloutKeyMap();
    for (let task = 0; task < 5000; task++) map.set(task * 7_000_000_000, task % 3, task);
    map.set(0, 0, 9);
    expect(map.size).toBe(5000);
    expect(map.get(7_000_000_000 * 4999, 4999 % 3)).toBe(4999);
    expect(map.get(0, 0)).toBe(9);
    expect(map.has(1, 0)).toBe(false);
    expect(map.get(0, 1)).toBeUndefined();
    expect([...map.entries()]).toHaveLength(5000);
  });
});
