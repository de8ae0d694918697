import { printable } from "../../base/door.ts";
import type { Estimate } from "../../records/metrics/door.ts";
import { intervalCaveats } from "../../records/metrics/door.ts";
import type { CollectResult, Evaluation, RunSummary, TrackedRun } from "../../run/door.ts";
import type { CommandContext } from "../command.ts";
import { relativePath } from "../files.ts";
import { interruptedExitCode } from "../interruption.ts";
import { countText } from "../render/progress.ts";
import { wrapText } from "../render/text-width.ts";
import { failureAdvice } from "./failure-advice.ts";
import { finishedJsonEvent } from "./json-events.ts";

/** Prints the end of an evaluation: metrics, intervals, coverage and the paths of the files. */
export function printReport(
  evaluation: Evaluation,
  context: CommandContext,
  options: { aggregated: boolean },
): void {
  if (context.json) {
    context.out(JSON.stringify(finishedJsonEvent(evaluation)));
    return;
  }
  const { out } = context;
  const { paths, result, summary } = evaluation;
  if (summary) {
    printSummary(summary, context);
  } else if (!options.aggregated) {
    out("Metrics were not computed (disable_aggregation); join shards with `gym eval aggregate`.");
  }
  printJudge(evaluation, context);
  printToolExceptions(evaluation, context);
  printFailures(evaluation, context);
  const show = (file: string) => relativePath(context, file);
  out("");
  out(`Results:   ${show(paths.output)}`);
  if (summary && summary.agents.length > 0) {
    out(`Metrics:   ${show(paths.aggregateMetrics)}`);
    out(`Intervals: ${show(paths.statistics)}`);
  }
  if ((summary?.coverage.failed ?? result.failed) > 0) out(`Failures:  ${show(paths.failures)}`);
  if ((summary?.coverage.ok ?? result.completed) > 0) out(`Read them: gym eval view ${show(paths.output)}`);
}

/** The runs in the tracking services. */
export function printTracked(tracked: readonly TrackedRun[], { err, json }: CommandContext): void {
  if (json) return;
  for (const { exporter, place } of tracked) err(`Exported to ${exporter}: ${place}`);
}

/** Replies without a verdict were scored anyway, usually with 0. */
function printJudge({ result }: Evaluation, { out, terminal }: CommandContext): void {
  const { judge } = result.progress;
  if (!judge || judge.unreadable === 0) return;
  out(
    terminal.yellow(
      `  ${judge.unreadable} of ${countText(judge.calls, "reply", "replies")} of the judge had no readable verdict; these rewards are not meaningful.`,
    ),
  );
}

/** The model received the exceptions as tool results, and the rollouts are scored. */
function printToolExceptions({ result }: Evaluation, { out, terminal }: CommandContext): void {
  for (const { server, count, message } of result.progress.tool_exceptions) {
    const calls = countText(count, "tool call");
    const [first = ""] = message.split("\n");
    out(terminal.yellow(`  ${calls} raised an exception in ${server}: ${cut(printable(first))}`));
  }
}

/** Each cause once, with its remedy. */
function printFailures(evaluation: Evaluation, context: CommandContext): void {
  const { out, terminal, flags } = context;
  const { result } = evaluation;
  const { failures_by_class, failure_messages } = result.progress;
  const failures = Object.entries(failures_by_class);
  for (const [name, count] of failures.slice(0, MAX_FAILURE_CLASSES)) {
    const [message = ""] = (failure_messages[name] ?? "").split("\n");
    const cause = `${countText(count, "failed attempt")}, ${name}: ${cut(printable(message))}`;
    for (const line of indented(cause, 2, terminal)) out(terminal.yellow(line));
    if (name === "invalid_row") out(`    ${rowsText(evaluation, context)}`);
    const stage = result.progress.failure_stages[name];
    const advice = failureAdvice(name, { stage, message, ownServers: !flags["no-serve"] });
    if (advice !== undefined) for (const line of indented(advice, 4, terminal)) out(line);
  }
  const { stoppedEarly } = result;
  if (stoppedEarly !== undefined) {
    const isShown = Object.values(failure_messages).includes(stoppedEarly);
    const reason = isShown ? "all other rollouts would have failed the same way" : stoppedEarly;
    out("");
    out(terminal.yellow(`Stopped early: ${reason}.`));
    out(`${isShown ? "After you fix this, run" : "Run"} the same command with --resume to continue.`);
    return;
  }
  const steps = nextSteps(result);
  if (steps.length > 0) out(["", ...steps].join("\n"));
}

/** Lines of a text that fit the terminal; a pipe gets one line. */
function indented(text: string, by: number, { isTty, width }: CommandContext["terminal"]): string[] {
  const indent = " ".repeat(by);
  const lines = isTty ? wrapText(text, Math.min(width, LINE_WIDTH) - by) : [text];
  return lines.map((line) => indent + line);
}

/** How a resumed run treats rollouts without a result. */
function nextSteps({ resumable, outOfAttempts, cancelled, maxAttempts }: CollectResult): string[] {
  const steps: string[] = [];
  if (cancelled > 0) steps.push(`The same command with --resume runs the ${cancelled} that were cancelled.`);
  if (resumable > 0)
    steps.push(`The same command with --resume runs ${countText(resumable, "failed rollout")} again.`);
  if (outOfAttempts > 0)
    steps.push(
      `${outOfAttempts} failed ${outOfAttempts === 1 ? "rollout was" : "rollouts were"} tried ${maxAttempts === 1 ? "once" : `${maxAttempts} times`}; --resume --retry-failed runs ${outOfAttempts === 1 ? "it" : "them"} again.`,
    );
  return steps;
}

/** The positions of rows that a server rejected. */
function rowsText({ paths, result }: Evaluation, context: CommandContext): string {
  const file = relativePath(context, paths.materializedInputs);
  const rows = (result.progress.failure_rows["invalid_row"] ?? []).map(({ task_index, line }) =>
    line === null ? `task ${task_index}` : `${file}:${line} (task ${task_index})`,
  );
  return `First rows: ${rows.join(", ")}; all are in ${relativePath(context, paths.failures)}.`;
}

type Statistics = NonNullable<RunSummary["agents"][number]["statistics"]>;

/** One line of the summary: a name and its value. */
type Fact = [name: string, value: string];

/** A line with a name, an interval and a count fits 80 columns. Longer names move their own value only. */
const MAX_NAME = 30;
const LINE_WIDTH = 78;

/** Metrics with their intervals by agent, and their coverage of the run. */
export function printSummary(
  { agents, coverage, judges, countedAsZero }: RunSummary,
  { out, terminal }: CommandContext,
): void {
  for (const { agent, metrics, statistics } of agents) {
    out("");
    out(terminal.bold(agent || "(no agent)"));
    const facts = [...metricFacts(metrics.key_metrics, statistics), ...statisticFacts(statistics)];
    const width = Math.min(MAX_NAME, Math.max(0, ...facts.map(([name]) => name.length)));
    for (const [name, value] of facts) out(`  ${name.padEnd(width)} ${value}`);
    if (!statistics) continue;
    const unscored = coverage.expected - coverage.ok;
    const pass = statistics.is_unit ? statistics.pass : [];
    for (const caveat of intervalCaveats({ ...statistics, pass, unscored }))
      for (const line of wrapText(caveat, LINE_WIDTH)) out(terminal.dim(`  ${line}`));
  }
  const { expected, ok, masked, failed, missing } = coverage;
  const scored = agents.reduce((sum, { statistics }) => sum + (statistics?.rollouts ?? 0), 0);
  // A duplicate row is scored twice, so there may be more.
  const counting = Math.min(ok, scored);
  const unscored = counting < ok ? `, ${ok - counting} without a reward` : "";
  out("");
  const line = `Coverage: ${counting} of ${expected} rollouts scored (${failed} failed, ${masked} masked, ${missing} missing${unscored})`;
  out(counting === expected ? terminal.green(line) : terminal.yellow(line));
  const { failed: failures = 0, missing: lost = 0 } = countedAsZero ?? {};
  if (failures + lost > 0)
    out(
      terminal.yellow(
        `The metrics count ${failures} failed and ${lost} missing rollouts as zero; nothing scored them.`,
      ),
    );
  for (const { server, model, calls } of judges) {
    const name = model === null ? "" : ` (${printable(model)})`;
    out(`Judged by ${printable(server)}${name}, ${countText(calls, "call")}`);
  }
}

/** Left out are the mean of the rewards if its interval is shown, and pass@1 if it has the value of the average of the repeats. */
function metricFacts(metrics: Readonly<Record<string, unknown>>, statistics: Statistics | undefined): Fact[] {
  const entries = Object.entries(metrics);
  const averages = new Map(
    entries
      .filter(([name]) => AVERAGE.test(name))
      .map(([name, value]) => [name.replace(AVERAGE, "pass@1/"), value]),
  );
  return entries
    .filter(([name, value]) => !isInternal(name) && !(averages.has(name) && averages.get(name) === value))
    .filter(([name]) => !(statistics && name === "mean/reward"))
    .map(([name, value]) => [name, IN_PERCENT.test(name) ? percent(value) : number(value)]);
}

function statisticFacts(statistics: Statistics | undefined): Fact[] {
  if (!statistics) return [];
  const rows = statistics.is_unit ? passRows(statistics.pass) : [];
  const ofTasks = (tasks: number) =>
    tasks < statistics.tasks
      ? `(${tasks} of ${countText(statistics.tasks, "task")})`
      : `(${countText(tasks, "task")})`;
  return [
    ["reward, 95 % interval", `${aligned(estimateText(statistics.reward))} ${ofTasks(statistics.tasks)}`],
    ...rows.map(({ k, pass_at_k }): Fact => [`pass@${k}`, rateText(pass_at_k, ofTasks)]),
    ...rows.map(({ k, pass_hat_k }): Fact => [`pass^${k}`, rateText(pass_hat_k, ofTasks)]),
  ];
}

const AVERAGE = /^pass@1\[avg-of-\d+\]\//;

/** Metrics that servers compute in percent, like the original. */
const IN_PERCENT = /(?:^|\/)(?:pass@\d+(?:\[avg-of-\d+\])?|majority@\d+)\/[^/]+$/;

/** Means of framework fields say nothing about the model; the metrics file has all of them. */
function isInternal(metric: string): boolean {
  return metric.split("/").some((part) => part.startsWith("_ng_") || part === "mask_sample");
}

/**
 * 1 when the run stopped early without a signal, or when no rollout completed in this run or in those that it resumes.
 */
export function exitCodeOf(evaluation: Evaluation, { signal }: CommandContext): number {
  const { result, summary } = evaluation;
  // A chained command must not continue with a partial run.
  if (signal.aborted) return (summary?.coverage.missing ?? 1) > 0 ? interruptedExitCode(signal) : 0;
  const { came, expected } = completion(evaluation);
  return result.stoppedEarly !== undefined || (expected > 0 && came === 0) ? 1 : 0;
}

/** How many rollouts have a result, of how many. */
export function completion({ result, summary }: Evaluation): { came: number; expected: number } {
  const { completed, total } = result.progress;
  if (!summary) return { came: completed, expected: total };
  const { ok, masked, expected } = summary.coverage;
  return { came: ok + masked, expected };
}

const MAX_FAILURE_CLASSES = 5;
const MAX_MESSAGE = 300;

function cut(text: string): string {
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
}

interface PassRow {
  k: number;
  pass_at_k: Estimate;
  pass_hat_k: Estimate;
}

const MAX_PASS_ROWS = 4;

/** The smallest and largest k are what people read. */
function passRows(pass: readonly unknown[]): PassRow[] {
  const rows = pass as PassRow[];
  return rows.length <= MAX_PASS_ROWS ? rows : [...rows.slice(0, MAX_PASS_ROWS - 1), rows.at(-1) as PassRow];
}

/** A value and its interval, if any. */
export function estimateText({ value, low, high }: Estimate): string {
  if (low === null || high === null || low === undefined || high === undefined) return value.toFixed(4);
  return `${value.toFixed(4)} [${low.toFixed(4)}, ${high.toFixed(4)}]`;
}

/** A share with its interval in percent, like the metrics of the servers. */
function rateText({ value, low, high, tasks }: Estimate, ofTasks: (tasks: number) => string): string {
  const text = (share: number) => (100 * share).toFixed(2);
  const interval = low === null || high === null ? "" : ` [${text(low)}, ${text(high)}]`;
  return `${percent(100 * value)}${interval} ${ofTasks(tasks)}`;
}

/** Width of a number without its interval. */
const NUMBER_WIDTH = 10;

function aligned(text: string): string {
  const [value = "", ...rest] = text.split(" ");
  return [value.padStart(NUMBER_WIDTH), ...rest].join(" ");
}

function number(value: unknown): string {
  return typeof value === "number" ? value.toFixed(4).padStart(NUMBER_WIDTH) : JSON.stringify(value);
}

function percent(value: unknown): string {
  return typeof value === "number" ? `${value.toFixed(2)} %`.padStart(NUMBER_WIDTH) : JSON.stringify(value);
}
