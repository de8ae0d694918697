import { describe, expect, it } from "vitest";
import { FAILURE_CLASSES } from "../../base/failures.ts";
import { artifactPaths } from "../../records/files/artifact-paths.ts";
import type { CollectResult } from "../../run/collect/collect-contract.ts";
import type { Evaluation } from "../../run/run.ts";
import type { RunSummary } from "../../run/summarize.ts";
import type { ToolExceptions } from "../../wire/result-members.ts";
import type { CommandContext } from "../command.ts";
import { SignalReceived } from "../interruption.ts";
import { failureAdvice } from "./failure-advice.ts";
import { exitCodeOf, printReport, printSummary } from "./report.ts";

const CAUSE = "401 from api.example.org: no such key";

/** The report of a run in which every rollout failed. */
function reportOf(options: {
  stoppedEarly?: string;
  failureClass?: string;
  result?: Partial<CollectResult>;
  toolExceptions?: ToolExceptions[];
}): string {
  const lines: string[] = [];
  const plain = (text: string) => text;
  const context = {
    flags: {},
    io: { cwd: "/work" },
    terminal: { yellow: plain, green: plain, bold: plain },
    out: (line: string) => lines.push(line),
  } as unknown as CommandContext;
  const failureClass = options.failureClass ?? "provider_auth";
  const evaluation = {
    paths: artifactPaths("/work/out.jsonl"),
    result: {
      completed: 0,
      failed: 12,
      cancelled: 0,
      stoppedEarly: options.stoppedEarly,
      resumable: 12,
      outOfAttempts: 0,
      maxAttempts: 3,
      ...options.result,
      progress: {
        failure_rows: {
          invalid_row: [
            { task_index: 1, rollout_index: 0, line: 2 },
            { task_index: 7, rollout_index: 0, line: null },
          ],
        },
        failures_by_class: { [failureClass]: 12 },
        failure_messages: { [failureClass]: CAUSE },
        failure_stages: { [failureClass]: "model" },
        tool_exceptions: options.toolExceptions ?? [],
      },
    },
    summary: {
      agents: [],
      coverage: { expected: 12, ok: 0, masked: 0, failed: 12, missing: 0 },
      turnBoundaries: null,
      judges: [],
    },
  } as unknown as Evaluation;
  printReport(evaluation, context, { aggregated: true });
  return lines.join("\n");
}

describe("the report of a run in which everything failed", () => {
  it.each([undefined, CAUSE])("names the cause and its remedy once (stopped early: %s)", (stoppedEarly) => {
    const text = reportOf(stoppedEarly === undefined ? {} : { stoppedEarly });
    expect(text.split(CAUSE)).toHaveLength(2);
    expect(text).toContain("12 failed attempts, provider_auth");
    expect(text).toContain("Check the API key");
    expect(text).toContain("--resume");
    expect(text).toContain("Failures:  out_failures.jsonl");
  });

  it("shows another reason to stop", () => {
    const text = reportOf({ stoppedEarly: "the run took longer than 5 s" });
    expect(text).toContain(
      "Stopped early: the run took longer than 5 s.\nRun the same command with --resume",
    );
  });

  it("explains which rollouts --resume runs again", () => {
    expect(reportOf({})).toContain("--resume runs 12 failed rollouts again.");
    const spent = reportOf({ result: { resumable: 0, outOfAttempts: 12 } });
    expect(spent).toContain(
      "12 failed rollouts were tried 3 times; --resume --retry-failed runs them again.",
    );
    expect(spent).not.toContain("The same command with --resume");
    const cancelled = reportOf({ result: { resumable: 0, cancelled: 1 } });
    expect(cancelled).toContain("The same command with --resume runs the 1 that were cancelled.");
    expect(reportOf({ result: { resumable: 0 } })).not.toContain("--resume");
  });

  it("names the rows that a server rejected", () => {
    const text = reportOf({ failureClass: "invalid_row", result: { resumable: 0 } });
    expect(text).toContain(
      "First rows: out_materialized_inputs.jsonl:2 (task 1), task 7; all are in out_failures.jsonl.",
    );
    expect(text).not.toContain("The same command with --resume");
  });

  it("names the limit that was reached", () => {
    const message = "policy_model /v1/responses did not answer within 3 s (model_call_timeout_seconds)";
    expect(failureAdvice("timeout", { message })).toContain("Raise model_call_timeout_seconds, or lower");
    expect(failureAdvice("timeout")).toContain("Raise the time limit, or lower");
  });

  it("has advice for every built-in failure class, and none for others", () => {
    for (const name of Object.keys(FAILURE_CLASSES)) expect(failureAdvice(name)).toMatch(/^[A-Z].*\.$/);
    expect(failureAdvice("invalid_response", { stage: "model" })).toContain("--model-url");
    expect(failureAdvice("connection", { stage: "model" })).toContain("--model-url");
    expect(failureAdvice("connection", { stage: "run" })).not.toContain("--model-url");
    expect(failureAdvice("verifier_error")).toContain("next to the results");
    expect(failureAdvice("verifier_error", { ownServers: false })).toContain("gym env start");
    expect(failureAdvice("made_up")).toBeUndefined();
    expect(failureAdvice("toString")).toBeUndefined();
    expect(reportOf({ failureClass: "made_up" })).toContain("12 failed attempts, made_up");
  });
});

describe("the summary of a run", () => {
  const interval = { value: 0.5, standard_error: 0.1, low: 0.3, high: 0.7, tasks: 4 };
  const summaryText = (statistics: object, coverage: object = {}, metrics: object = {}): string => {
    const lines: string[] = [];
    const plain = (text: string) => text;
    printSummary(
      {
        agents: [
          {
            agent: "solver",
            metrics: {
              key_metrics: { "mean/reward": 0.5, "mean/_ng_attempt_index": 1, "mean/mask_sample": 0 },
              ...metrics,
            },
            statistics: {
              rollouts: 6,
              tasks: 4,
              reward: interval,
              pass: [],
              pass_threshold: 1,
              is_unit: true,
              ...statistics,
            },
          },
        ],
        coverage: { expected: 6, ok: 6, masked: 0, failed: 0, missing: 0, ...coverage },
        judges: [{ server: "judge_model", model: "grader-1", calls: 3 }],
      } as unknown as RunSummary,
      {
        out: (line: string) => lines.push(line),
        terminal: { yellow: plain, green: plain, bold: plain, dim: plain },
      } as unknown as CommandContext,
    );
    return lines.join("\n");
  };

  it("names who judged", () => {
    expect(summaryText({})).toContain("Judged by judge_model (grader-1), 3 calls");
  });

  it("omits the fields that the framework adds to rows", () => {
    const text = summaryText({});
    expect(text).toMatch(/^ {2}reward, 95 % interval {5}0\.5000 \[0\.3000, 0\.7000\] \(4 tasks\)$/m);
    expect(text).not.toContain("mean/reward");
    expect(text).not.toMatch(/_ng_|mask_sample/);
    expect(text).toContain("Coverage: 6 of 6 rollouts scored (0 failed, 0 masked, 0 missing)");
  });

  it("marks percentages, and uses one unit for every pass@k", () => {
    const metrics = { key_metrics: { "pass@1[avg-of-4]/accuracy": 35, "mean/steps": 3.5 } };
    const rate = { ...interval, value: 0.35, low: 0.2, high: 0.5, tasks: 4 };
    const text = summaryText({ pass: [{ k: 1, pass_at_k: rate, pass_hat_k: rate }] }, {}, metrics);
    expect(text).toMatch(/pass@1\[avg-of-4\]\/accuracy +35\.00 %$/m);
    expect(text).toMatch(/mean\/steps +3\.5000$/m);
    expect(text).toMatch(/pass@1 +35\.00 % \[20\.00, 50\.00\] \(4 tasks\)$/m);
    expect(text).toMatch(/pass\^1 +35\.00 % \[20\.00, 50\.00\] \(4 tasks\)$/m);
  });

  it("shows a figure once", () => {
    const key_metrics = {
      "pass@1[avg-of-4]/accuracy": 35,
      "pass@1/accuracy": 35,
      "pass@1[avg-of-4]/no_answer": 10,
      "pass@1/no_answer": 0,
    };
    const text = summaryText({}, {}, { key_metrics });
    expect(text).toMatch(/pass@1\[avg-of-4\]\/accuracy +35\.00 %$/m);
    expect(text).not.toContain("pass@1/accuracy");
    expect(text).toMatch(/pass@1\/no_answer +0\.00 %$/m);
  });

  it("shows the number of tasks of each rate", () => {
    const pass = [{ k: 2, pass_at_k: { ...interval, tasks: 1 }, pass_hat_k: { ...interval, tasks: 1 } }];
    expect(summaryText({ pass })).toMatch(/pass@2 .*\] \(1 of 4 tasks\)$/m);
  });

  it("has no pass@k for rewards outside of 0 to 1, and says so", () => {
    const pass = [{ k: 1, pass_at_k: interval, pass_hat_k: interval }];
    const note = "There is no pass@k, because";
    expect(summaryText({ pass })).not.toContain(note);
    const text = summaryText({ pass, is_unit: false });
    expect(text).toContain(note);
    expect(text).not.toMatch(/^ {2}pass[@^]1/m);
  });

  it("fits 80 columns", () => {
    const rate = { ...interval, value: 1, low: 0.1234, high: 1, tasks: 1_000 };
    const pass = [1, 2, 8].map((k) => ({ k, pass_at_k: rate, pass_hat_k: rate }));
    const key_metrics = { "pass@1[avg-of-8]/symbolic_accuracy": 80.416667, "mean/output_tokens": 12345.6 };
    const reward = { ...interval, low: 0.5, high: 0.5 };
    const text = summaryText({ pass, reward, tasks: 2_000 }, { failed: 3, ok: 3 }, { key_metrics });
    expect(text).toContain("(1000 of 2000 tasks)");
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("explains that an interval without width does not mean certainty", () => {
    const note = "All 4 tasks have the same result";
    expect(summaryText({})).not.toContain(note);
    expect(summaryText({ reward: { ...interval, value: 0, low: 0, high: 0 } })).toContain(note);
    expect(summaryText({ reward: { ...interval, low: null, high: null } })).not.toContain(note);
  });

  it("counts the same rollouts as the interval", () => {
    expect(summaryText({ rollouts: 4 })).toContain(
      "Coverage: 4 of 6 rollouts scored (0 failed, 0 masked, 0 missing, 2 without a reward)",
    );
    expect(summaryText({ rollouts: 7 })).toContain("Coverage: 6 of 6 rollouts scored");
  });
});

describe("the exit code of a run", () => {
  const signal = new AbortController().signal;
  const coverage = { expected: 4, ok: 0, masked: 0, failed: 4, missing: 0 };
  const exitCode = (options: {
    coverage?: Partial<typeof coverage>;
    completed?: number;
    aborted?: AbortSignal;
  }): number =>
    exitCodeOf(
      {
        result: {
          completed: 0,
          failed: 0,
          stoppedEarly: undefined,
          progress: { total: 4, completed: options.completed ?? 0 },
        },
        summary: options.coverage && { coverage: { ...coverage, ...options.coverage } },
      } as unknown as Evaluation,
      { signal: options.aborted ?? signal } as unknown as CommandContext,
    );

  it("is 1 without any result, even if nothing failed in this session", () => {
    expect(exitCode({ coverage: {} })).toBe(1);
    expect(exitCode({})).toBe(1);
  });

  it("is 0 with results of any session", () => {
    expect(exitCode({ coverage: { ok: 1, failed: 3 } })).toBe(0);
    expect(exitCode({ coverage: { masked: 4, failed: 0 } })).toBe(0);
    expect(exitCode({ completed: 1 })).toBe(0);
  });

  it("is that of the signal for an incomplete run", () => {
    const missing = { missing: 2, failed: 2 };
    expect(exitCode({ coverage: missing, aborted: AbortSignal.abort(new SignalReceived("SIGTERM")) })).toBe(
      143,
    );
    expect(exitCode({ coverage: missing, aborted: AbortSignal.abort(new SignalReceived("SIGHUP")) })).toBe(
      129,
    );
    expect(exitCode({ coverage: missing, aborted: AbortSignal.abort() })).toBe(130);
    expect(exitCode({ coverage: {}, aborted: AbortSignal.abort() })).toBe(0);
  });
});

it("counts the exceptions of tools, which the model received as results", () => {
  const exception = { server: "search", count: 1, message: "TypeError: no index\n    at lookup" };
  expect(reportOf({ toolExceptions: [exception, { ...exception, server: "maps", count: 40 }] })).toContain(
    "  1 tool call raised an exception in search: TypeError: no index\n" +
      "  40 tool calls raised an exception in maps: TypeError: no index\n",
  );
});
