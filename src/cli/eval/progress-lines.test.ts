import { expect, it } from "vitest";
import { CollectionProgress } from "../../rollouts/collection-progress.ts";
import type { Terminal } from "../render/terminal.ts";
import { progressLines, progressText } from "./progress-lines.ts";

const plain = (text: string) => text;
const terminal = { green: plain, dim: plain, yellow: plain } as unknown as Terminal;

it("shows what a run waits for, on one line and without control characters", () => {
  const progress = new CollectionProgress({ total: 2, alreadyDone: 0 });
  expect(progressText(progress.snapshot([], 1, 0))).not.toContain("waiting");
  progress.warned("policy_model", `500 from host:\n\u001b[31m${"x".repeat(500)}`);
  expect(progressText(progress.snapshot([], 1, 0))).not.toContain("waiting");
  const snapshot = progress.snapshot([], 1, 2);
  expect(progressText(snapshot)).toMatch(/waiting for \S+: \(policy_model\) 500 from host: \\x1b\[31mx+…$/);
  const lines = progressLines(snapshot, 80, terminal);
  expect(lines.filter((line) => line.includes("(policy_model) 500"))).toHaveLength(1);
  expect(lines.every((line) => line.length < 80 && !line.includes("\n"))).toBe(true);
});
