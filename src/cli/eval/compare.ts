import path from "node:path";
import { printable } from "../../base/door.ts";
import type { Estimate } from "../../records/metrics/door.ts";
import { type ComparedRun, compareFiles, type FilesComparison } from "../../records/results/door.ts";
import type { CommandContext } from "../command.ts";
import { givenKeys, readKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { shownPath } from "../files.ts";
import {
  calibrationSetting,
  correctedOf,
  correctedScores,
  printCorrected,
  printCorrectedDifference,
  type RunScores,
} from "../judge/corrected-scores.ts";
import { renderTable } from "../render/table.ts";
import { compareKeys, compareReportKeys } from "./keys.ts";
import { estimateText } from "./report.ts";
import { THRESHOLD_MISSED } from "./thresholds.ts";

const SIGNIFICANT = 0.05;
const MAX_PROMPT = 60;

/** Runs `gym eval compare RUN_A RUN_B …`: each of the further runs is compared with the first. */
export async function compareWithFirst(
  context: CommandContext,
  [first, ...others]: readonly [string, ...string[]],
): Promise<number> {
  const { io, out, json, signal } = context;
  rejectReportFlags(context);
  if (others.length === 0) throw new UsageError("the following arguments are required: RUN_B");
  const keys = readKeys(compareKeys, await context.resolve());
  const matchBy = keys.match === "auto" ? undefined : keys.match;
  const options = { passThreshold: keys.pass_threshold, matchBy, signal };
  const setting = await calibrationSetting(context, keys);
  const comparisons: FilesComparison[] = [];
  for (const other of others)
    comparisons.push(await compareFiles(path.resolve(io.cwd, first), path.resolve(io.cwd, other), options));
  const [only] = comparisons;
  const scores = new Map<string, RunScores>();
  for (const { runs } of comparisons)
    for (const { path: run } of [runs.before, runs.after])
      if (!scores.has(run)) scores.set(run, await correctedScores(context, run, setting));
  if (comparisons.length > 1) printAll(comparisons, scores, context);
  else if (only && json) out(JSON.stringify({ ...only, corrected: correctedOf(only, scores) }));
  else if (only) print(only, context, keys.show);
  if (!json) printAllCorrected(comparisons, scores, context);
  const problems = comparisons.flatMap((comparison) => {
    const problem = regression(comparison, keys);
    const run = comparisons.length > 1 ? `${shownPath(context, comparison.runs.after.path)}: ` : "";
    return problem === undefined ? [] : [run + problem];
  });
  for (const [run, { unmet }] of scores)
    problems.push(...unmet.map((sentence) => `${shownPath(context, run)}: ${sentence}`));
  for (const problem of problems) context.err(problem);
  return problems.length === 0 ? 0 : THRESHOLD_MISSED;
}

/** The scores of each run that a calibration corrects. */
function printAllCorrected(
  comparisons: readonly FilesComparison[],
  scores: ReadonlyMap<string, RunScores>,
  context: CommandContext,
): void {
  for (const [run, { scores: own }] of scores) {
    if (!own.some(({ calibration }) => calibration !== null)) continue;
    context.out("");
    context.out(context.terminal.bold(shownPath(context, run)));
    printCorrected(own, context);
  }
  for (const comparison of comparisons) printCorrectedDifference(comparison, scores, context);
}

function rejectReportFlags(context: CommandContext): void {
  const given = givenKeys(context).find((key) => Object.hasOwn(compareReportKeys, key));
  if (given === undefined) return;
  const flag = compareReportKeys[given as keyof typeof compareReportKeys].flag;
  throw new UsageError(
    `--${"name" in flag ? flag.name : "report-format"} belongs to a report: give the runs with --baseline and --candidates, not as RUN_A RUN_B.`,
  );
}

/** One line for each run; comparing two runs shows more detail. */
function printAll(
  comparisons: readonly FilesComparison[],
  scores: ReadonlyMap<string, RunScores>,
  context: CommandContext,
): void {
  const { out, json, terminal } = context;
  if (json) {
    const withCorrected = comparisons.map((each) => ({ ...each, corrected: correctedOf(each, scores) }));
    out(JSON.stringify({ comparisons: withCorrected }));
    return;
  }
  const rowOf = (run: ComparedRun, reward: Estimate, others: readonly string[]) => [
    shownPath(context, run.path),
    printable(run.model ?? ""),
    estimateText(reward),
    ...others,
  ];
  const [first] = comparisons;
  const rows = comparisons.map(({ runs, after, difference, permutation, common_tasks, wins, losses }) =>
    rowOf(runs.after, after, [
      signed(difference),
      pText(permutation.p),
      `${wins} / ${losses}`,
      String(common_tasks),
    ]),
  );
  if (first) rows.unshift(rowOf(first.runs.before, first.before, ["", "", "", ""]));
  const title = "Runs compared with the first";
  const columns = ["Run", "Model", "Reward", "Difference", "p", "Better / worse", "Tasks"];
  out(renderTable({ title, columns, rows, optional: ["Better / worse", "Tasks", "Model"] }, terminal));
  out("p: permutation test on the tasks that a run has in common with the first.");
  const warnings = new Set(comparisons.flatMap(({ runs }) => coverageWarnings(runs, context)));
  for (const warning of warnings) out(terminal.yellow(`Warning: ${warning}`));
}

/** Why the second run fails the threshold, if it does. */
function regression(
  { difference, permutation }: FilesComparison,
  { fail_on_regression, max_drop }: { fail_on_regression: boolean; max_drop?: number },
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
  const model = run.model === null ? "" : ` (${printable(run.model)})`;
  const name = shownPath(context, run.path) + model;
  return `${context.terminal.bold(label)}  ${name}\n   reward ${estimateText(reward)} (${run.tasks} tasks, ${run.rollouts} rollouts; ${ok} of ${expected} scored)`;
}

function matchingLines(comparison: FilesComparison): string[] {
  const { matched_by, matched_content, common_tasks, different_content, kept_apart } = comparison;
  const { only_before, only_after } = comparison;
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

function coverageWarnings({ before, after }: FilesComparison["runs"], context?: CommandContext): string[] {
  return [before, after].flatMap(({ path: file, coverage, without_reward }, place) => {
    const { ok, expected, failed, masked, missing } = coverage;
    const name = context ? shownPath(context, file) : "AB"[place];
    const incomplete = `${name} is incomplete: ${failed} failed, ${masked} masked, ${missing} missing of ${expected} rollouts.`;
    const unscored = `${without_reward} rollouts of ${name} have no numeric reward.`;
    return [...(ok === expected ? [] : [incomplete]), ...(without_reward === 0 ? [] : [unscored])];
  });
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
