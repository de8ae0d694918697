import { type SelectionReport, selectTasks } from "../../records/results/door.ts";
import { assertNotOverwriting, rejectReplacingExport } from "../../run/door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { outputFile, requireInputFile, shownPath, withFileErrors } from "../files.ts";
import { renderTable } from "../render/table.ts";
import { selectKeys } from "./keys.ts";

const REASONS: Record<keyof SelectionReport["left_out"], string> = {
  excluded: "excluded in the viewer",
  too_few_rollouts: "with too few rollouts",
  pass_rate: "outside the pass rates",
  deviation: "with rewards too alike",
  duplicate: "there already",
  balance: "for balance",
  limit: "beyond the limit",
};

/** `gym dataset select`. */
export async function selectDataset(context: CommandContext, profiles: readonly string[]): Promise<number> {
  const keys = readKeys(selectKeys, await context.resolve());
  return withFileErrors(async () => {
    const profilePaths: string[] = [];
    for (const file of profiles) profilePaths.push(await requireInputFile(context, file, "--profile"));
    const outputPath = await outputFile(context, keys.output_jsonl_fpath, "name a file");
    await assertNotOverwriting("a profile", profilePaths, { output: outputPath });
    await rejectReplacingExport(outputPath, "task rows");
    const { report, reportPath } = await selectTasks({
      profilePaths,
      outputPath,
      passThreshold: keys.pass_threshold,
      rolloutsMin: keys.rollouts_min,
      duplicates: keys.duplicates,
      balance: keys.balance,
      prefer: keys.prefer,
      seed: keys.seed,
      includeExcluded: keys.include_excluded,
      passRateMin: keys.pass_rate_min,
      passRateMax: keys.pass_rate_max,
      deviationMin: keys.deviation_min,
      limit: keys.limit,
      signal: context.signal,
    });
    if (context.json) {
      context.out(JSON.stringify({ output: outputPath, report: reportPath, ...report }));
    } else print(context, report, { outputPath, reportPath });
    // An empty training set would fail the training that reads it.
    return report.selected === 0 ? 1 : 0;
  });
}

function print(
  context: CommandContext,
  report: SelectionReport,
  { outputPath, reportPath }: { outputPath: string; reportPath: string },
): void {
  const { out, err, terminal } = context;
  out(`${report.selected} of ${report.read} tasks: ${shownPath(context, outputPath)}`);
  const leftOut = (Object.keys(REASONS) as (keyof typeof REASONS)[])
    .filter((reason) => report.left_out[reason] > 0)
    .map((reason) => `${report.left_out[reason]} ${REASONS[reason]}`);
  if (leftOut.length > 0) out(`Left out: ${leftOut.join(", ")}`);
  const share = (value: number | null) => (value === null ? "" : value.toFixed(2));
  const columns = ["Environment", "Tasks", "Selected", "Pass rate", "Deviation"];
  const rows = Object.entries(report.environments).map(([name, { read, selected, pass_rate, deviation }]) => {
    return [name, String(read), String(selected), share(pass_rate), share(deviation)];
  });
  out(renderTable({ columns, rows }, terminal));
  out(`Report: ${shownPath(context, reportPath)}`);
  if (report.selected === 0)
    err(terminal.yellow("No task is left; widen the pass rates or lower --deviation-min."));
}
