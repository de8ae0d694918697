import path from "node:path";
import type { Estimate } from "../../metrics/intervals.ts";
import { printable } from "../../printable.ts";
import { type ComparedRun, compareFiles, type FilesComparison } from "../../results/compare-files.ts";
import type { TaskMatching } from "../../results/match-tasks.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { renderTable } from "../render/table.ts";
import { compareKeys } from "./keys.ts";
import { estimateText } from "./report.ts";
import { shownPath } from "./rollout-file.ts";
import { THRESHOLD_MISSED } from "./thresholds.ts";

const SIGNIFICANT = 0.05;
const MAX_PROMPT = 60;

/** Runs `gym eval compare RUN_A RUN_B`. */
export async function compareTwoRuns(
  context: CommandContext,
  runs: { before: string; after: string },
): Promise<number> {
  const { io, out, json, signal } = context;
  const keys = readKeys(compareKeys, await context.resolve());
  const comparison = await compareFiles(path.resolve(io.cwd, runs.before), path.resolve(io.cwd, runs.after), {
    passThreshold: keys.pass_threshold,
    ...(keys.match !== "auto" && { matchBy: keys.match satisfies TaskMatching }),
    signal,
  });
  if (json) out(JSON.stringify(comparison));
  else print(comparison, context, keys.show);
  const problem = regression(comparison, keys);
  if (problem === undefined) return 0;
  context.err(problem);
  return THRESHOLD_MISSED;
}

/** Why the second run is not good enough, where it is not. */
function regression(
  { difference, permutation }: FilesComparison,
  { fail_on_regression, max_drop }: { fail_on_regression: boolean; max_drop?: number | undefined },
): string | undefined {
  const drop = -difference.value;
  if (max_drop !== undefined && !(drop <= max_drop))
    return `The mean reward drops by ${drop.toFixed(4)}, more than --max-drop ${max_drop}.`;
  if (fail_on_regression && drop > 0 && permutation.p < SIGNIFICANT)
    return `The mean reward drops by ${drop.toFixed(4)}, which is significant (p = ${pText(permutation.p)}).`;
  return undefined;
}

function print(comparison: FilesComparison, context: CommandContext, shown: number): void {
  const { out, terminal } = context;
  const { runs, difference } = comparison;
  out(runText("A", runs.before, comparison.before, context));
  out(runText("B", runs.after, comparison.after, context));
  out("");
  for (const line of matchingLines(comparison)) out(line);
  if (comparison.different_content > 0) {
    out(
      terminal.yellow(
        `Warning: ${comparison.different_content} of them have other ${comparison.matched_content} in B than in A.`,
      ),
    );
  }
  for (const warning of coverageWarnings(runs)) out(terminal.yellow(`Warning: ${warning}`));
  out("");
  out(`B − A, mean over common tasks: ${terminal.bold(signed(difference))}`);
  out(
    `p: ${pText(comparison.paired_t_p)} (paired t), ${pText(comparison.permutation.p)} (${comparison.permutation.exact ? "exact permutation" : "permutation"}), ${pText(comparison.sign_test_p)} (signs)`,
  );
  out(
    `Tasks: B is better on ${comparison.wins}, worse on ${comparison.losses}, the same on ${comparison.ties}`,
  );
  out(verdict(comparison, context));
  if (comparison.agents.length > 0) {
    const rows = comparison.agents.map((own) => [
      own.agent,
      String(own.common_tasks),
      own.before.value.toFixed(4),
      own.after.value.toFixed(4),
      signed(own.difference),
      pText(own.permutation.p),
    ]);
    out("");
    out(renderTable({ columns: ["Agent", "Tasks", "A", "B", "B − A", "p"], rows }, terminal));
  }
  printFlipped(comparison, context, shown);
}

function runText(label: string, run: ComparedRun, reward: Estimate, context: CommandContext): string {
  const { ok, expected } = run.coverage;
  const name = shownPath(context, run.path);
  return `${context.terminal.bold(label)}  ${name}\n   reward ${estimateText(reward)} (${run.tasks} tasks, ${run.rollouts} rollouts; ${ok} of ${expected} scored)`;
}

function matchingLines(comparison: FilesComparison): string[] {
  const {
    matched_by,
    matched_content,
    common_tasks,
    only_before,
    only_after,
    different_content,
    kept_apart,
  } = comparison;
  const agree =
    matched_by === "content"
      ? `equal ${matched_content ?? "content"}`
      : matched_content === null
        ? "index; what they asked is not recorded"
        : different_content === 0
          ? `index, and their ${matched_content} agree`
          : "index";
  const lines = [`${common_tasks} common tasks, matched by ${agree}`];
  if (kept_apart > 0)
    lines.push(`${kept_apart} tasks share their index, but not their ${matched_content}: no common tasks`);
  if (only_before.length > 0) lines.push(`${only_before.length} tasks only in A, left out`);
  if (only_after.length > 0) lines.push(`${only_after.length} tasks only in B, left out`);
  return lines;
}

function coverageWarnings({ before, after }: FilesComparison["runs"]): string[] {
  const incomplete = [before, after].flatMap(
    ({ coverage: { ok, expected, failed, masked, missing } }, place) =>
      ok === expected
        ? []
        : [
            `${"AB"[place]} is incomplete: ${failed} failed, ${masked} masked, ${missing} missing of ${expected} rollouts.`,
          ],
  );
  const noReward = [before, after].flatMap(({ without_reward }, place) =>
    without_reward === 0 ? [] : [`${without_reward} rollouts of ${"AB"[place]} have no numeric reward.`],
  );
  return [...incomplete, ...noReward];
}

function verdict({ permutation, difference }: FilesComparison, { terminal }: CommandContext): string {
  if (permutation.p >= SIGNIFICANT) return "No significant difference (permutation test, 5 % level).";
  return difference.value > 0
    ? terminal.green("B is significantly better (permutation test, 5 % level).")
    : terminal.red("B is significantly worse (permutation test, 5 % level).");
}

function printFlipped(comparison: FilesComparison, { out, terminal }: CommandContext, shown: number): void {
  const { flipped, pass_threshold, matched_by } = comparison;
  if (flipped.length === 0) return;
  out("");
  const rows = flipped
    .slice(0, shown)
    .map(({ before_index, after_index, before, after, prompt }) => [
      matched_by === "index" ? String(before_index) : `${before_index} / ${after_index}`,
      before.toFixed(3),
      after.toFixed(3),
      after > before ? "fixed" : "broken",
      cut(printable(prompt ?? "")),
    ]);
  const title = `Flipped tasks (mean reward crosses ${pass_threshold}): ${flipped.length}`;
  out(renderTable({ title, columns: ["Task", "A", "B", "", "Prompt"], rows }, terminal));
  if (flipped.length > shown) out(`… ${flipped.length - shown} more (--show ${flipped.length}, or --json)`);
}

function cut(text: string): string {
  return text.length > MAX_PROMPT ? `${text.slice(0, MAX_PROMPT - 1)}…` : text;
}

function signed(estimate: Estimate): string {
  return `${estimate.value > 0 ? "+" : ""}${estimateText(estimate)}`;
}

function pText(p: number | null): string {
  if (p === null) return "–";
  return p < 0.0001 ? "< 0.0001" : p.toFixed(4);
}
