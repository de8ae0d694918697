import { expect, it } from "vitest";
import { aggregateMetrics } from "../metrics/aggregate.ts";
import { compareMarkdown } from "./compare-markdown.ts";
import { compareReport } from "./compare-report.ts";

const side = (label: string, rewards: number[][], agent = "a") => {
  const rows = rewards.flatMap((own, task) =>
    own.map((reward, rollout) => ({ _ng_task_index: task, _ng_rollout_index: rollout, reward })),
  );
  const content = [{ agent_ref: { name: agent }, ...aggregateMetrics(rows) }];
  return { rollouts: `${label}/r.jsonl`, metricsFile: `${label}/m.json`, label, content };
};

it("reports the difference with its interval and the tasks that flipped", () => {
  const report = compareReport(
    side("base", [
      [1, 1],
      [0, 0],
      [1, 0],
    ]),
    [
      side("new", [
        [0, 0],
        [1, 1],
        [1, 1],
      ]),
    ],
  );
  const [comparison] = report["comparisons"] as { metrics: unknown[]; flips: unknown[] }[];
  expect(comparison?.metrics[0]).toMatchObject({
    metric: "mean/reward",
    candidates: [{ delta: expect.closeTo(1 / 6, 9), delta_ci_low: expect.any(Number) }],
  });
  expect(comparison?.flips[0]).toMatchObject({
    mode: "binary",
    pass_to_fail_count: 1,
    fail_to_pass_count: 1,
    tied_count: 1,
    net: 0,
  });
});

it("rejects runs without a common agent, and suggests a name", () => {
  expect(() => compareReport(side("x", [[1]], "alpha"), [side("y", [[1]], "beta")])).toThrow(/in common/);
  expect(() =>
    compareReport(side("x", [[1]], "alpha"), [side("y", [[1]], "alpha")], { agent: "alpa" }),
  ).toThrow(/Did you mean 'alpha'/);
});

it("compares several candidates with one baseline", () => {
  const base = side("base", [
    [0, 0],
    [1, 1],
  ]);
  const report = compareReport(base, [
    side("one", [
      [1, 1],
      [1, 1],
    ]),
    side("two", [
      [0, 0],
      [0, 0],
    ]),
  ]);
  expect(report).toMatchObject({
    candidates: [
      { index: 0, label: "one" },
      { index: 1, label: "two" },
    ],
    comparisons: [
      {
        candidate_agents: ["a", "a"],
        flips: [
          { candidate_index: 0, fail_to_pass_count: 1 },
          { candidate_index: 1, pass_to_fail_count: 1 },
        ],
      },
    ],
  });
  const [comparison] = report["comparisons"] as { metrics: { candidates: { delta: number }[] }[] }[];
  expect(comparison?.metrics[0]?.candidates.map(({ delta }) => delta)).toEqual([0.5, -0.5]);
  const markdown = compareMarkdown(report);
  expect(markdown).toContain("### Candidate 2");
  expect(markdown).toContain("| mean/reward | -0.5000 |");
  expect(() =>
    compareReport(base, [side("one", [[1]]), side("two", [[1]])], { candidateAgents: ["a"] }),
  ).toThrow("names 1 agents, but there are 2 candidates");
});
