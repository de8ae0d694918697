import { expect, it } from "vitest";
import { CollectionProgress } from "../../run/collect/collection-progress.ts";
import type { Terminal } from "../render/terminal.ts";
import { isLineDue, progressLines, progressText } from "./progress-lines.ts";

const plain = (text: string) => text;
const terminal = { green: plain, dim: plain, yellow: plain } as unknown as Terminal;

it("shows why a run waits, on one line and without control characters", () => {
  const progress = new CollectionProgress({ total: 2, alreadyDone: 0 });
  expect(progressText(progress.snapshot([], 1, 0))).not.toContain("waiting");
  progress.warned("policy_model", `500 from host:\n\u001b[31m${"x".repeat(500)}`);
  expect(progressText(progress.snapshot([], 1, 0))).not.toContain("waiting");
  const snapshot = progress.snapshot([], 1, 2);
  expect(progressText(snapshot)).toMatch(
    /waiting for \S+: \(policy_model\) 500 from host: \\x1b\[31mx+…; Ctrl-C and --resume/,
  );
  const lines = progressLines(snapshot, 80, terminal);
  expect(lines.filter((line) => line.includes("(policy_model) 500"))).toHaveLength(1);
  expect(lines.every((line) => line.length < 80 && !line.includes("\n"))).toBe(true);
});

it("writes one line when the endpoint goes down, and then one a minute", () => {
  const progress = new CollectionProgress({ total: 2, alreadyDone: 0 });
  const at = (elapsed_seconds: number) => ({ ...progress.snapshot([], 1, 1), elapsed_seconds });
  const before = at(10);
  expect(isLineDue(before, undefined)).toBe(true);
  progress.warned("policy_model", "host rejected; trying again (attempt 1 of 20 failed, after 567 s)");
  expect(progressText(at(20))).toContain("host rejected; trying again; Ctrl-C and --resume continue later");
  expect(isLineDue(at(20), before)).toBe(true);
  expect(isLineDue(at(30), at(20))).toBe(false);
  expect(isLineDue(at(80), at(20))).toBe(true);
  progress.recovered();
  expect(isLineDue(at(30), before)).toBe(true);
});

it("shows the number of model calls, including those of unfinished rollouts", () => {
  const progress = new CollectionProgress({ total: 1, alreadyDone: 0 });
  expect(progressText(progress.snapshot([], 1, 0))).not.toContain("model calls");
  for (let call = 0; call < 1_200; call++) progress.modelCalled();
  const startedAt = performance.now() - 60_000;
  const running = { id: "0-0", agent: "a", startedAt, stage: "model", what: "m", modelCalls: 1_200 } as const;
  const text = progressText(progress.snapshot([running], 1, 0));
  expect(text).toContain("model calls 1.2k, tokens 0 in");
  expect(text).toContain("0-0 in model (m) 1m 00s, 1.2k model calls");
});

const running = (total: number, done: number) => {
  const progress = new CollectionProgress({ total, alreadyDone: 0 });
  for (let task = 0; task < done; task++)
    progress.ended(
      { status: "completed", row: { reward: 1 } },
      { taskIndex: task, rolloutIndex: 0, agent: "a" },
      false,
    );
  return progress;
};

it("keeps the numbers on narrow terminals", () => {
  const snapshot = { ...running(200, 199).snapshot([], 16, 0), rate: 12.5, eta_seconds: 3 };
  for (const width of [120, 80, 60, 40]) {
    const lines = progressLines(snapshot, width, terminal);
    expect(lines.every((line) => line.length < width)).toBe(true);
    expect(lines[0]).toContain("99% 199/200 [0s, 3s left, 12.5/s]");
    expect(lines.join("\n")).toMatch(/reward 1\.000.*in flight 0\/16.*tokens 0 in, 0 out/s);
  }
  expect(progressLines(snapshot, 80, terminal)[0]).toContain("Collecting rollouts █");
  expect(progressLines(snapshot, 60, terminal)[0]).toMatch(/^█{8,}.* 99%/);
  expect(progressLines(snapshot, 40, terminal)[0]).toMatch(/^99% /);
});

it("shows the bounds of the interval, which stay in the range of the rewards", () => {
  const progress = new CollectionProgress({ total: 5, alreadyDone: 0 });
  for (const [task, reward] of [1, 0, 0, 0, 0].entries())
    progress.ended(
      { status: "completed", row: { reward } },
      { taskIndex: task, rolloutIndex: 0, agent: "a" },
      false,
    );
  expect(progressText(progress.snapshot([], 1, 0))).toContain("reward 0.200 [0.000, 0.755],");
});

it("shows the rewards of several agents separately", () => {
  const progress = running(4, 2);
  expect(progressText(progress.snapshot([], 1, 0))).toContain("reward 1.000");
  progress.ended(
    { status: "completed", row: { reward: -1 } },
    { taskIndex: 2, rolloutIndex: 0, agent: "blackjack" },
    false,
  );
  const snapshot = progress.snapshot([], 1, 0);
  expect(progressText(snapshot)).toContain("a 2 done, reward 1.000, blackjack 1 done, reward -1.000");
  expect(progressText(snapshot)).not.toMatch(/reward \S+ \[/);
  expect(progressLines(snapshot, 60, terminal)).toContain("  blackjack 1 done, reward -1.000");
});

it("counts retries and judge calls, and marks the counts of this session", () => {
  const progress = new CollectionProgress({ total: 3, alreadyDone: 0 });
  const usage = { input_tokens: 50, output_tokens: 5, ng_retries: 2 };
  const judges = [{ server: "judge_model", model: "grader-1", calls: 3 }];
  const _ng_judge = { calls: 3, input_tokens: 30, output_tokens: 6, unreadable: 1, judges };
  progress.modelCalled();
  progress.ended(
    { status: "completed", row: { reward: 0, response: { usage }, _ng_judge } },
    { taskIndex: 0, rolloutIndex: 0, agent: "a" },
    false,
  );
  const fresh = progress.snapshot([], 1, 0);
  expect(progressText(fresh)).toContain("model calls 1, 2 retried, tokens 50 in, 5 out");
  expect(progressText(fresh)).toContain(
    "judge calls 3 (judge_model grader-1), tokens 30 in, 6 out, 1 verdicts unreadable",
  );
  expect(progressText({ ...fresh, resumed: true })).toContain(
    "model calls 1 (this session), 2 retried (all sessions), tokens 50 in, 5 out (all sessions)",
  );
});
