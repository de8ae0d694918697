import path from "node:path";
import { printable } from "../../base/door.ts";
import {
  type Board,
  type BoardCell,
  type BoardEnvironment,
  type BoardTest,
  readBoard,
  SIGNIFICANT,
} from "../../records/door.ts";
import type { Estimate } from "../../records/metrics/door.ts";
import { loadWebFiles, writeStaticBoard } from "../../viewer/door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { THRESHOLD_MISSED } from "../eval/thresholds.ts";
import { rolloutFile, shownPath } from "../files.ts";
import { hint } from "../hint.ts";
import { countText } from "../render/progress.ts";
import { renderTable } from "../render/table.ts";
import { wrapText } from "../render/text-width.ts";

const DEFAULT_DIRECTORY = "results";
const REPORT_EVERY_MS = 2_000;
/** Maximum number of listed differences, and of runs that are left out. --json has all. */
const MAX_LISTED = 20;

interface BoardFlags {
  environment: readonly string[];
  "fail-on-regression": boolean;
  "to-folder": string | undefined;
}

/** Runs `gym board`. */
export async function showBoard(
  context: CommandContext,
  given: readonly string[],
  flags: BoardFlags,
): Promise<number> {
  const { out, err, json } = context;
  const board = await boardOfPaths(context, given, flags.environment);
  const folder = flags["to-folder"];
  if (folder !== undefined) await writeBoard(context, board, folder);
  else if (json) out(JSON.stringify(board));
  else printBoard(board, context, flags.environment.length > 0);
  const regressions = changesIn(board).filter(({ difference }) => difference.value < 0);
  if (!flags["fail-on-regression"] || regressions.length === 0) return 0;
  err(`${countText(regressions.length, "regression")} since the run before.`);
  return THRESHOLD_MISSED;
}

/** Paths in the folder are relative, so that they do not name this machine. */
async function writeBoard(context: CommandContext, board: Board, given: string): Promise<void> {
  const folder = path.resolve(context.io.cwd, given);
  const left_out = board.left_out.map(({ path: file, reason }) => {
    const shown = shownPath(context, file);
    return { path: shown, reason: reason.replaceAll(file, shown) };
  });
  const webFiles = await loadWebFiles(path.join(context.installRoot, "dist", "viewer"));
  await writeStaticBoard({ ...board, left_out }, folder, webFiles);
  const about = { folder, runs: board.runs };
  context.out(
    context.json
      ? JSON.stringify(about)
      : `Board of ${countText(board.runs, "run")}: ${shownPath(context, folder)}/index.html`,
  );
}

/** The board of some directories, with progress on stderr. */
async function boardOfPaths(
  context: CommandContext,
  given: readonly string[],
  environments: readonly string[],
): Promise<Board> {
  const { err, json, signal } = context;
  const paths: string[] = [];
  for (const name of given.length > 0 ? given : [DEFAULT_DIRECTORY])
    paths.push(await rolloutFile(context, name, "DIR", { directory: true }));
  let reportedAt = performance.now();
  const onProgress = (done: number, total: number) => {
    if (json || performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    err(`${done} of ${countText(total, "run")} read`);
  };
  const board = await readBoard(paths, { environments, onProgress, signal });
  const known = board.all_environments;
  for (const name of environments)
    if (!known.includes(name))
      throw new UsageError(
        `argument --environment: there are no runs of '${name}'.${hint(name, known) || ` There are runs of ${known.join(", ")}.`}`,
      );
  return board;
}

function printBoard(board: Board, context: CommandContext, withTrends: boolean): void {
  const { out, terminal } = context;
  const line = (text: string) => {
    for (const part of wrapText(text, terminal.isTty ? terminal.width : Number.POSITIVE_INFINITY)) out(part);
  };
  const { environments, models, tests } = board;
  const counts = [
    countText(board.runs, "run"),
    countText(models.length, "model"),
    countText(environments.length, "environment"),
  ];
  out(terminal.bold(counts.join(", ")));
  for (const environment of environments) {
    out("");
    printEnvironment(environment, context);
    if (environment.differentTasks)
      line("The runs have different tasks. Tests use the tasks that two runs have in common.");
    if (withTrends) printTrend(environment, context);
  }
  printOverall(board, context);
  out("");
  const rule = `p < ${SIGNIFICANT}, corrected for ${countText(tests.length, "test")} (Holm)`;
  const different = tests.filter(({ kind, significant }) => kind === "models" && significant);
  printTests(`Differences (${rule})`, different, context, (test) => {
    const [better, worse] = test.difference.value > 0 ? [test.after, test.before] : [test.before, test.after];
    return `${better.model} is better than ${worse.model} by`;
  });
  const changes = changesIn(board);
  if (tests.some(({ kind }) => kind === "change"))
    printTests("Changes since the run before", changes, context, ({ after, difference }) =>
      difference.value < 0 ? `${after.model} is worse by` : `${after.model} is better by`,
    );
  printLeftOut(board, context, line);
}

function changesIn({ tests }: Board): BoardTest[] {
  return tests.filter(({ kind, significant }) => kind === "change" && significant);
}

function printEnvironment({ name, range, cells }: BoardEnvironment, { out, terminal }: CommandContext): void {
  const most = Math.max(0, ...cells.flatMap(({ pass }) => pass.map(({ k }) => k)));
  const rate = (cell: BoardCell, of: "pass_at_k" | "pass_hat_k", k: number) => {
    const found = cell.pass.find((own) => own.k === k);
    return found === undefined ? "–" : (100 * found[of].value).toFixed(1).padStart(5);
  };
  const hasCost = cells.some(({ cost }) => cost !== null);
  const columns: [heading: string, cell: (cell: BoardCell) => string][] = [
    ["Rank", ({ rank }) => String(rank).padStart(4)],
    ["Model", ({ model }) => printable(model)],
    ["Mean reward", ({ reward }) => intervalText(reward)],
    ...(most === 0 ? [] : ([["pass@1", (cell) => rate(cell, "pass_at_k", 1)]] as typeof columns)),
    ...(most < 2
      ? []
      : ([
          [`pass@${most}`, (cell) => rate(cell, "pass_at_k", most)],
          [`pass^${most}`, (cell) => rate(cell, "pass_hat_k", most)],
        ] as typeof columns)),
    ...(hasCost
      ? ([["Cost", ({ cost }) => (cost === null ? "–" : `$${cost.toFixed(2)}`)]] as typeof columns)
      : []),
    ["Tasks", ({ reward }) => String(reward.tasks).padStart(5)],
    ["Runs", ({ runs }) => String(runs).padStart(4)],
    ...(cells.some(({ coverage }) => (coverage?.failed ?? 0) > 0)
      ? ([["Failed", ({ coverage }) => String(coverage?.failed ?? "–").padStart(6)]] as typeof columns)
      : []),
  ];
  const optional = ["Runs", "pass@1", "Tasks", `pass^${most}`, "Cost", "Failed"];
  const rows = cells.map((cell) => columns.map(([, text]) => text(cell)));
  const title = `${printable(name)} (rewards from ${short(range.low)} to ${short(range.high)}${most === 0 ? "" : ", pass rates in %"})`;
  out(renderTable({ title, columns: columns.map(([heading]) => heading), rows, optional }, terminal));
}

function printTrend({ trends }: BoardEnvironment, { out, terminal }: CommandContext): void {
  const rows = trends.flatMap(({ model, points }) =>
    points.map(({ run, when, reward }) => [
      when.slice(0, 10),
      printable(model),
      intervalText(reward),
      printable(run),
    ]),
  );
  rows.sort((a, b) => ((a[0] ?? "") < (b[0] ?? "") ? -1 : 1));
  const columns = ["Date", "Model", "Mean reward", "Run"];
  out(renderTable({ title: "Runs over time", columns, rows, optional: ["Run"] }, terminal));
}

function printOverall({ overall, environments }: Board, { out, terminal }: CommandContext): void {
  if (overall === null) {
    if (environments.length > 1)
      out("\nNo mean over environments: fewer than two have all models and rewards from 0 to 1.");
    return;
  }
  out("");
  const title = `Mean over ${overall.environments.length} environments with rewards from 0 to 1`;
  const rows = overall.models.map(({ model, reward }) => [printable(model), intervalText(reward)]);
  out(renderTable({ title, columns: ["Model", "Mean reward"], rows }, terminal));
}

function printTests(
  title: string,
  tests: readonly BoardTest[],
  { out, terminal }: CommandContext,
  textOf: (test: BoardTest) => string,
): void {
  out(terminal.bold(title));
  const sorted = [...tests].sort((a, b) => a.adjusted_p - b.adjusted_p);
  for (const test of sorted.slice(0, MAX_LISTED)) {
    const { value, low, high, tasks } = test.difference;
    const size = intervalText({
      ...test.difference,
      value: Math.abs(value),
      low: value < 0 && high !== null ? -high : low,
      high: value < 0 && low !== null ? -low : high,
    });
    const colour = test.kind === "change" && value < 0 ? terminal.red : (text: string) => text;
    out(`  ${colour(printable(textOf(test)))} ${size}`);
    out(
      terminal.dim(
        `    ${printable(test.environment)}, ${countText(tasks, "common task")}, p ${pText(test.adjusted_p)}`,
      ),
    );
  }
  if (tests.length === 0) out("  none");
  if (tests.length > MAX_LISTED) out(`  … ${tests.length - MAX_LISTED} more (--json)`);
}

function printLeftOut({ left_out }: Board, context: CommandContext, line: (text: string) => void): void {
  if (left_out.length === 0) return;
  context.out("");
  context.out(context.terminal.bold(`Left out: ${countText(left_out.length, "file")}`));
  for (const { path, reason } of left_out.slice(0, MAX_LISTED))
    line(`  ${shownPath(context, path)}: ${printable(reason.replace(`${path}:`, "line "))}`);
  if (left_out.length > MAX_LISTED) line(`  … ${left_out.length - MAX_LISTED} more (--json)`);
}

function intervalText({ value, low, high }: Estimate): string {
  const text = (number: number) => number.toFixed(3);
  return low === null || high === null ? text(value) : `${text(value)} [${text(low)}, ${text(high)}]`;
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function pText(p: number): string {
  return p < 0.0001 ? "< 0.0001" : p.toFixed(4);
}
