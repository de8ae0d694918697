import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { parseExactRow, readTextLines } from "../../data/light-door.ts";
import type { CommandContext } from "../command.ts";
import { givenKeys, listingKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { evalWithOwnServers, type FollowedEvaluation } from "../eval/run.ts";
import { THRESHOLD_MISSED } from "../eval/thresholds.ts";
import { shownPath } from "../files.ts";
import { interruptedExitCode } from "../interruption.ts";
import { renderTable } from "../render/table.ts";
import { wrapText } from "../render/text-width.ts";
import { memberContext } from "./member-context.ts";
import { type Expectation, findSuite, type Suite, type SuiteMember } from "./suite-file.ts";

/** Flags that say what to run, which the suite says. */
const OF_ONE_RUN = ["benchmark", "environment", "resources-server", "no-serve"];
const OF_ONE_INPUT = ["input_jsonl_fpath", "split"];

const LINE_WIDTH = 78;

/** What became of one member. */
export interface MemberResult {
  readonly member: string;
  readonly status: "done" | "failed" | "cannot_run" | "not_started";
  /** Why there is no score, or why not all rollouts have one. */
  readonly reason: string | null;
  readonly metric: string;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly scored: number;
  readonly rollouts: number;
  readonly expected: Expectation | null;
  /** Whether the value is as expected; null without a value or an expectation. */
  readonly as_expected: boolean | null;
  readonly sample_data: boolean;
  readonly output: string;
}

/** Runs the members of a suite one after another, each into a folder of its own. */
export async function runSuite(context: CommandContext): Promise<number> {
  const suite = findSuite(context, String(context.flags["suite"]));
  rejectOtherSelections(context);
  const { output_jsonl_fpath: given } = await listingKeys(context, {
    output_jsonl_fpath: { type: "str", help: "" },
  });
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  const directory = path.resolve(context.io.cwd, given ?? path.join("results", suite.name, time));
  if (directory.endsWith(".jsonl"))
    throw new UsageError("argument --output: a suite writes into a folder; leave out .jsonl");
  await mkdir(directory, { recursive: true });
  const results: MemberResult[] = [];
  for (const [index, member] of suite.members.entries()) {
    if (!context.json) context.err(`\n[${index + 1}/${suite.members.length}] ${member.name}`);
    const result = await runMember(context, member, path.join(directory, member.name, "rollouts.jsonl"));
    results.push(result);
    if (result.status === "cannot_run") context.err(`${member.name} cannot run: ${result.reason}`);
    if (result.status === "failed") context.err(`${member.name} failed: ${result.reason}`);
    await writeFile(
      path.join(directory, "suite.json"),
      `${JSON.stringify(suiteReport(suite, results), null, 2)}\n`,
    );
  }
  report(context, suite, results, directory);
  if (context.signal.aborted) return interruptedExitCode(context.signal);
  if (results.some(({ status }) => status !== "done")) return 1;
  return results.some(({ as_expected: asExpected }) => asExpected === false) ? THRESHOLD_MISSED : 0;
}

function rejectOtherSelections(context: CommandContext): void {
  const flag = OF_ONE_RUN.find((name) => [context.flags[name] ?? []].flat().some(Boolean));
  const key = givenKeys(context).find((name) => OF_ONE_INPUT.includes(name));
  if (flag === undefined && key === undefined) return;
  const named = flag === undefined ? (key === "split" ? "--split" : "--input") : `--${flag}`;
  throw new UsageError(`--suite cannot be combined with ${named}: the suite says what to run`);
}

async function runMember(
  context: CommandContext,
  member: SuiteMember,
  output: string,
): Promise<MemberResult> {
  const empty = { ...emptyResult(member), output };
  if (context.signal.aborted) return { ...empty, reason: "interrupted" };
  let started = false;
  let evaluation: FollowedEvaluation | undefined;
  try {
    const own = await memberContext(context, member, output);
    // Errors of the config are found before the run, so that they are not taken for its failure.
    await own.resolve({ requireServers: true });
    started = true;
    const code = await evalWithOwnServers(own, (finished) => {
      evaluation = finished;
    });
    const isSample =
      evaluation?.paths !== undefined && (await isSampleData(evaluation.paths.materializedInputs));
    return resultOf({ ...empty, sample_data: isSample }, member, evaluation, code);
  } catch (error) {
    const reason = errorMessage(error);
    return { ...empty, status: started ? "failed" : "cannot_run", reason };
  }
}

/** Rows of ours that stand for those of the benchmark say so. */
async function isSampleData(inputs: string): Promise<boolean> {
  for await (const line of readTextLines(inputs)) return parseExactRow(line, inputs)["sample_data"] === true;
  return false;
}

function emptyResult(member: SuiteMember): Omit<MemberResult, "output"> {
  return {
    member: member.name,
    status: "not_started",
    reason: null,
    metric: member.expected?.metric ?? "mean/reward",
    value: null,
    low: null,
    high: null,
    scored: 0,
    rollouts: 0,
    expected: member.expected ?? null,
    as_expected: null,
    sample_data: false,
  };
}

function resultOf(
  empty: MemberResult,
  { expected }: SuiteMember,
  evaluation: FollowedEvaluation | undefined,
  code: number,
): MemberResult {
  const summary = evaluation?.summary;
  const [agent] = summary?.agents ?? [];
  const { metric } = empty;
  const found = agent?.metrics.agent_metrics[metric] ?? agent?.metrics.key_metrics[metric];
  const value = typeof found === "number" ? found : null;
  const interval = metric === "mean/reward" ? agent?.statistics?.reward : undefined;
  const { expected: rollouts = 0, ok: scored = 0 } = summary?.coverage ?? {};
  const isWhole = code !== 1 && scored > 0;
  const missing = value === null ? `the run has no metric '${metric}'` : null;
  const [cause = ""] = Object.values(evaluation?.result.progress.failure_messages ?? {});
  const unscored = `${rollouts - scored} of ${rollouts} rollouts have no score`;
  const partly = scored < rollouts ? [unscored, cause.split("\n", 1)[0]].filter(Boolean).join(": ") : null;
  return {
    ...empty,
    status: isWhole && value !== null && !partly ? "done" : "failed",
    reason: partly ?? missing,
    value,
    low: interval?.low ?? null,
    high: interval?.high ?? null,
    scored,
    rollouts,
    as_expected:
      expected === undefined || value === null || empty.sample_data
        ? null
        : Math.abs(value - expected.value) <= expected.tolerance,
  };
}

function suiteReport({ name, file }: Suite, members: readonly MemberResult[]) {
  return { suite: name, file, members };
}

function report(
  context: CommandContext,
  suite: Suite,
  results: readonly MemberResult[],
  directory: string,
): void {
  const { out, err, json, terminal } = context;
  if (json) {
    out(JSON.stringify({ event: "suite", ...suiteReport(suite, results) }));
    return;
  }
  out("");
  out(
    renderTable(
      {
        title: `Suite ${suite.name}`,
        columns: ["Member", "Score", "95 % interval", "Expected", "Scored", "Status"],
        optional: ["95 % interval"],
        rows: results.map(cellsOf),
      },
      terminal,
    ),
  );
  for (const { member, reason, status } of results)
    if (reason !== null)
      for (const line of wrapText(`${member} (${STATUS[status]}): ${reason.split("\n", 1)[0]}`, LINE_WIDTH))
        out(terminal.yellow(line));
  if (results.some(({ sample_data: isSample }) => isSample))
    out(terminal.yellow("Example rows say nothing about the benchmark; prepare its data first."));
  out(`Results: ${shownPath(context, directory)}`);
  if (results.some(({ status }) => status === "failed" || status === "not_started"))
    err("The same command with --resume goes on with members that are not complete.");
}

const STATUS = {
  done: "done",
  failed: "failed",
  cannot_run: "cannot run",
  not_started: "not started",
} as const satisfies Record<MemberResult["status"], string>;

function cellsOf(result: MemberResult): string[] {
  const { sample_data: sampleData } = result;
  const {
    member,
    metric,
    value,
    low,
    high,
    expected,
    as_expected: asExpected,
    scored,
    rollouts,
    status,
  } = result;
  const text = (number: number | null) =>
    number === null ? "" : number.toFixed(Math.abs(number) >= 10 ? 2 : 4);
  return [
    member,
    value === null ? "" : metric === "mean/reward" ? text(value) : `${text(value)} ${metric}`,
    low === null ? "" : `${text(low)} to ${text(high)}`,
    expected === null ? "" : `${expected.value} ± ${expected.tolerance}`,
    rollouts === 0 ? "" : `${scored}/${rollouts}`,
    status !== "done"
      ? STATUS[status]
      : sampleData
        ? "example rows"
        : asExpected === false
          ? "not as expected"
          : "done",
  ];
}
