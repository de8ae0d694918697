import { mkdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { type JsonObject, loadsPlain } from "../../base/python/json/door.ts";
import { maskWord } from "../../base/secrets.ts";
import { ConfigError } from "../../config/errors.ts";
import { RolloutFileError } from "../../records/errors.ts";
import { artifactPaths, writeFileAtomically } from "../../records/files/door.ts";
import {
  type AggregateSide,
  compareMarkdown,
  compareReport,
  flipText,
  metricCells,
} from "../../records/results/door.ts";
import { gymVersion } from "../../run/light-door.ts";
import type { CommandContext } from "../command.ts";
import { givenKeys, readKeys } from "../config-keys.ts";
import { CommandKeysError, UsageError } from "../errors.ts";
import { shownPath } from "../files.ts";
import { renderTable } from "../render/table.ts";
import { compareKeys, compareReportKeys } from "./keys.ts";

/** Runs `gym eval compare --baseline A --candidates B,C`. */
export async function reportComparison(context: CommandContext): Promise<number> {
  const { io, out, json, overrides } = context;
  const foreign = givenKeys(context).find((key) => Object.hasOwn(compareKeys, key));
  if (foreign !== undefined)
    throw new UsageError(
      `--${foreign.replaceAll("_", "-")} belongs to a comparison of tasks: give the runs as RUN_A RUN_B.`,
    );
  const keys = readKeys(compareReportKeys, await context.resolve());
  const candidates = listOf("candidates", keys.candidate_rollouts_jsonl_fpaths);
  if (candidates.length === 0)
    throw new CommandKeysError("invalid configuration: candidate_rollouts_jsonl_fpaths (is empty).");
  const metrics = listOf("candidates-agg-metrics", keys.candidate_aggregate_metrics_fpaths);
  if (metrics.length > 0 && metrics.length !== candidates.length)
    throw new CommandKeysError(
      `invalid configuration: candidate_aggregate_metrics_fpaths (has ${metrics.length} files for ${candidates.length} candidates).`,
    );
  const baseline = await readSide(
    context,
    keys.baseline_rollouts_jsonl_fpath,
    keys.baseline_aggregate_metrics_fpath,
  );
  const sides: AggregateSide[] = [];
  for (const [index, run] of candidates.entries()) sides.push(await readSide(context, run, metrics[index]));
  const directory = await reportDirectory(
    path.resolve(io.cwd, keys.output_dirpath ?? path.dirname(sides[0]?.rollouts ?? "")),
  );
  const command = ["gym eval compare", ...overrides.map(overrideText).map(maskWord)].join(" ");
  const { schema_version, ...compared } = compareReport(baseline, sides, {
    agent: keys.agent_name,
    baselineAgent: keys.baseline_agent_name,
    candidateAgents: listOf("candidate-agents", keys.candidate_agent_names),
  });
  const report: JsonObject = {
    schema_version,
    generated_at: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    nemo_gym_version: gymVersion(context.installRoot),
    command,
    ...compared,
  };
  const written: string[] = [];
  const write = async (kind: "md" | "json", content: () => string) => {
    if (keys.report_format !== kind && keys.report_format !== "both") return;
    const file = path.join(directory, `compare_report.${kind}`);
    await writeFileAtomically(file, [content()]);
    written.push(file);
  };
  await write("json", () => `${JSON.stringify(report, null, 2)}\n`);
  await write("md", () => compareMarkdown(report));
  if (json) out(JSON.stringify(report));
  else printReport(report, [baseline, ...sides], written, context);
  return 0;
}

function listOf(flag: string, given: unknown): string[] {
  const items = typeof given === "string" ? given.split(",").map((item) => item.trim()) : (given ?? []);
  if (!Array.isArray(items) || items.some((item) => typeof item !== "string" || item === ""))
    throw new UsageError(`argument --${flag}: expected texts separated by commas, or a list`);
  return items as string[];
}

function overrideText(override: CommandContext["overrides"][number]): string {
  return typeof override === "string"
    ? override
    : `${override.op}${override.path}=${JSON.stringify(override.value)}`;
}

/** The metrics of a run. Its rollouts need not exist: only the file next to them is read. */
async function readSide(context: CommandContext, given: string, metrics?: string): Promise<AggregateSide> {
  const { cwd } = context.io;
  const named = path.resolve(cwd, given);
  const isFolder = (await stat(named).catch(() => undefined))?.isDirectory() ?? false;
  const rollouts = isFolder ? path.join(named, "rollouts.jsonl") : named;
  const metricsFile =
    metrics === undefined ? artifactPaths(rollouts).aggregateMetrics : path.resolve(cwd, metrics);
  let content: unknown;
  let text: string;
  try {
    text = await readFile(metricsFile, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new RolloutFileError(
      "ROLLOUT_FILE_MISSING",
      metricsFile,
      `The aggregate metrics ${shownPath(context, metricsFile)} do not exist. Compute them with gym eval aggregate, or name the file with --baseline-agg-metrics or --candidates-agg-metrics.`,
    );
  }
  try {
    content = loadsPlain(text, { allowNonFinite: true });
  } catch (error) {
    throw new ConfigError(`${shownPath(context, metricsFile)} is not JSON: ${errorMessage(error)}`);
  }
  const folder = path.basename(path.dirname(rollouts));
  return { rollouts, metricsFile, label: folder || path.parse(rollouts).name, content };
}

async function reportDirectory(directory: string): Promise<string> {
  const entry = await stat(directory).catch(() => undefined);
  if (entry && !entry.isDirectory())
    throw new ConfigError(`output_dirpath: ${directory} is a file, not a folder (--output-dir).`);
  await mkdir(directory, { recursive: true });
  return directory;
}

function printReport(
  report: JsonObject,
  sides: readonly AggregateSide[],
  written: readonly string[],
  context: CommandContext,
): void {
  const { out, err, terminal } = context;
  const [baseline, ...candidates] = sides;
  const comparisons = report["comparisons"] as JsonObject[];
  for (const comparison of comparisons)
    for (const [index, candidate] of candidates.entries()) {
      const metrics = (comparison["metrics"] as JsonObject[]).filter((metric) => metric["is_key_metric"]);
      const title = `${comparison["baseline_agent"]}${candidates.length > 1 ? ` — ${candidate.label}` : ""}`;
      const columns = ["Metric", "Δ", "95% CI for Δ", "Baseline", "95% CI", "Candidate", "95% CI "];
      const rows = metrics.map((metric) => metricCells(metric, index));
      out(renderTable({ title, columns, rows, optional: ["95% CI", "95% CI "] }, terminal));
    }
  out(`Baseline: ${shownPath(context, baseline?.rollouts ?? "")}`);
  for (const { rollouts } of candidates) out(`Candidate: ${shownPath(context, rollouts)}`);
  out(`Agents compared: ${comparisons.map(({ baseline_agent }) => baseline_agent).join(", ")}`);
  for (const comparison of comparisons)
    for (const [index, flips] of (comparison["flips"] as JsonObject[]).entries())
      out(`${candidates.length > 1 ? `${candidates[index]?.label}: ` : ""}${flipText(flips)}`);
  for (const file of written) out(`Wrote: ${shownPath(context, file)}`);
  for (const warning of report["warnings"] as string[]) err(terminal.yellow(`Warning: ${warning}`));
}
