import { describe, expect, it } from "vitest";
import { artifactPaths } from "../../rollouts/artifact-paths.ts";
import type { Evaluation } from "../../rollouts/evaluate.ts";
import { FAILURE_CLASSES } from "../../rollouts/failure-classes.ts";
import type { CommandContext } from "../command.ts";
import { failureAdvice } from "./failure-advice.ts";
import { printReport } from "./report.ts";

const CAUSE = "401 from api.example.org: no such key";

/** What is printed at the end of a run in which every rollout failed. */
function reportOf(options: { stoppedEarly?: string; failureClass?: string }): string {
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
      progress: { failures_by_class: { [failureClass]: 12 }, failure_messages: { [failureClass]: CAUSE } },
    },
    summary: {
      agents: [],
      coverage: { expected: 12, ok: 0, masked: 0, failed: 12, missing: 0 },
      turnBoundaries: null,
    },
  } as unknown as Evaluation;
  printReport(evaluation, context, { aggregated: true });
  return lines.join("\n");
}

describe("the report of a run in which everything failed", () => {
  it.each([undefined, CAUSE])(
    "names the cause once and says what to do (stopped early: %s)",
    (stoppedEarly) => {
      const text = reportOf(stoppedEarly === undefined ? {} : { stoppedEarly });
      expect(text.split(CAUSE)).toHaveLength(2);
      expect(text).toContain("12 failed attempts, provider_auth");
      expect(text).toContain("Check the API key");
      expect(text).toContain("--resume");
      expect(text).toContain("Failures: out_failures.jsonl");
    },
  );

  it("tells another reason to stop", () => {
    const text = reportOf({ stoppedEarly: "the run took longer than 5 s" });
    expect(text).toContain(
      "Stopped early: the run took longer than 5 s.\nRun the same command with --resume",
    );
  });

  it("has advice for every class of ours, and none for others", () => {
    for (const name of Object.keys(FAILURE_CLASSES)) expect(failureAdvice(name)).toMatch(/^[A-Z].*\.$/);
    expect(failureAdvice("made_up")).toBeUndefined();
    expect(failureAdvice("toString")).toBeUndefined();
    expect(reportOf({ failureClass: "made_up" })).toContain("12 failed attempts, made_up");
  });
});
