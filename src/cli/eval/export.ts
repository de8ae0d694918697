import path from "node:path";
import { artifactPaths, assertRegularFile, sidecarPath } from "../../records/files/door.ts";
import { type ExportReport, exportRollouts } from "../../records/results/export/door.ts";
import { assertNotOverwriting, rejectReplacingExport } from "../../run/door.ts";
import { gymVersion } from "../../run/light-door.ts";
import type { CommandContext } from "../command.ts";
import { type KeyValues, readKeys } from "../config-keys.ts";
import { UsageError } from "../errors.ts";
import { rolloutFile, shownPath } from "../files.ts";
import { ignoredChecks } from "./health-check.ts";
import { exportKeys } from "./keys.ts";

/** Formats for imitation training. */
const IMITATED = new Set(["sft", "chat"]);

/** Maximum number of listed rows; `--json` has up to a thousand. */
const MAX_SHOWN = 20;

type Keys = KeyValues<typeof exportKeys>;

/** Runs `gym eval export`. */
export async function exportRun(context: CommandContext): Promise<number> {
  const keys = readKeys(exportKeys, await context.resolve());
  const rolloutsPath = await rolloutFile(context, keys.rollouts_jsonl_fpath, "--rollouts");
  const atif = atifContext(context, keys);
  const outputPath = atif ? atif.directory : await outputFile(context, keys, rolloutsPath);
  const given = keys.materialized_inputs_jsonl_fpath;
  const report = await exportRollouts({
    rolloutsPath,
    outputPath,
    format: keys.format,
    reasoning: keys.reasoning,
    tokens: keys.tokens,
    tokenDrift: keys.token_drift,
    verifyTokens: keys.verify_tokens,
    atif,
    materializedInputsPath: given === undefined ? undefined : await rolloutFile(context, given, "--inputs"),
    filters: {
      rewardMin: keys.reward_min,
      rewardMax: keys.reward_max,
      passRateMin: keys.pass_rate_min,
      passRateMax: keys.pass_rate_max,
      bestOf: keys.best_of,
      label: keys.label,
      includeExcluded: keys.include_excluded,
      minMargin: keys.min_margin,
      passThreshold: keys.pass_threshold,
      includeMasked: keys.include_masked,
      completeGroups: keys.complete_groups,
      health: keys.health,
      ignoredChecks: ignoredChecks(keys),
      pairs: keys.pairs,
      maxPairsPerTask: keys.max_pairs_per_task,
    },
    signal: context.signal,
  });
  printReport(context, report, { format: keys.format, rolloutsPath, outputPath });
  // An export without any valid rollout is a failure, even without --strict.
  const nothingValid = report.read > 0 && report.invalid === report.read;
  return nothingValid || (context.flags["strict"] && report.invalid > 0) ? 1 : 0;
}

/** The output file of an export; an existing file must be an earlier export. */
async function outputFile({ io }: CommandContext, keys: Keys, rolloutsPath: string): Promise<string> {
  const { format, output_jsonl_fpath: given } = keys;
  const suffix = format === "csv" || format === "parquet" ? `.${format}` : ".jsonl";
  const outputPath =
    given === undefined
      ? sidecarPath(rolloutsPath, `_${format.replace("-", "_")}`, suffix)
      : path.resolve(io.cwd, given);
  const ownFiles = Object.values(artifactPaths(rolloutsPath));
  if (ownFiles.includes(outputPath))
    throw new UsageError(`argument --output: '${outputPath}' is a file of the run itself`);
  await assertNotOverwriting("the exported rollouts", ownFiles, { output: outputPath });
  await assertRegularFile(outputPath);
  await rejectReplacingExport(outputPath, format);
  return outputPath;
}

/** Additional options of `atif`; its flags are rejected with other formats. */
function atifContext({ io, installRoot }: CommandContext, keys: Keys) {
  const { output_dirpath: directory, session_id: sessionId, agent_version: agentVersion } = keys;
  const given = { "--output-dir": directory, "--session-id": sessionId, "--agent-version": agentVersion };
  if (keys.format !== "atif") {
    const [surplus] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
    if (surplus !== undefined) throw new UsageError(`argument ${surplus}: only allowed with --format atif`);
    return undefined;
  }
  if (keys.output_jsonl_fpath !== undefined)
    throw new UsageError("argument --output: not allowed with --format atif, which writes to --output-dir");
  const missing = Object.entries(given).filter(([, value]) => (value ?? "").trim() === "");
  if (missing.length > 0 || !directory || !sessionId || !agentVersion)
    throw new UsageError(`--format atif needs ${missing.map(([flag]) => flag).join(", ")}`);
  const exporterVersion = gymVersion(installRoot);
  return { directory: path.resolve(io.cwd, directory), sessionId, agentVersion, exporterVersion };
}

function printReport(
  context: CommandContext,
  report: ExportReport,
  { format, rolloutsPath, outputPath }: { format: string; rolloutsPath: string; outputPath: string },
): void {
  const { out, err, json, terminal } = context;
  if (json) {
    const { invalidRows, tasksWithoutPair, forkedRollouts, verifiedTokens, partialGroups, ...counts } =
      report;
    const about = {
      tasks_without_pair: format === "dpo" ? tasksWithoutPair : undefined,
      forked_rollouts: forkedRollouts,
      verified_tokens: verifiedTokens,
      partial_groups: partialGroups,
    };
    out(JSON.stringify({ format, output: outputPath, ...counts, ...about, invalid_rows: invalidRows }));
    return;
  }
  for (const { line, problem } of report.invalidRows.slice(0, MAX_SHOWN))
    err(terminal.yellow(`${shownPath(context, rolloutsPath)}:${line}: ${problem}`));
  if (report.invalid > MAX_SHOWN)
    err(terminal.yellow(`… and ${report.invalid - MAX_SHOWN} more invalid rows`));
  out(`${report.written} ${format} records from ${report.read} rollouts: ${shownPath(context, outputPath)}`);
  const { masked, annotated, health, incomplete_group, pass_rate, reward, best_of } = report.filtered;
  const filtered = [
    [masked, "masked"],
    [annotated, "excluded or without the label"],
    [health, "by their health"],
    [incomplete_group, "of incomplete groups"],
    [pass_rate, "outside the pass rates"],
    [reward, "outside the rewards"],
    [best_of, "not among the best"],
  ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  if (filtered.length > 0) out(`Filtered out: ${filtered.join(", ")}`);
  if (report.forkedRollouts) out(`Rollouts with several sequences: ${report.forkedRollouts}`);
  const { verifiedTokens: verified } = report;
  if (verified)
    out(
      `Read back: ${verified.sequences} sequences, ${verified.tokens} tokens (${verified.trained} trained on), all equal to the rollouts`,
    );
  if (report.partialGroups)
    err(
      terminal.yellow(
        `Warning: ${report.partialGroups} tasks are incomplete: a repeat failed, is masked or is missing. For trainers that need complete groups, use --complete-groups.`,
      ),
    );
  if (report.tasksWithoutPair > 0) out(`Tasks without a pair: ${report.tasksWithoutPair}`);
  if (report.invalid > 0) out(terminal.yellow(`Invalid rows: ${report.invalid}`));
  if (IMITATED.has(format) && report.unrewarded > 0)
    err(
      terminal.yellow(
        `Warning: ${report.unrewarded} of ${report.written} records have a reward of 0 or less. Exclude them with --reward-min.`,
      ),
    );
}
