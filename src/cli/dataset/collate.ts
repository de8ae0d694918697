import path from "node:path";
import { type CollateEvent, type CollateResult, collate } from "../../data/door.ts";
import { ExtendedStatistics, tokenCounter } from "../../data/light-door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { CommandKeysError } from "../errors.ts";
import { relativePath, withFileErrors } from "../files.ts";
import { type ByteProgress, withByteProgress } from "../render/progress.ts";
import { agentsWithDatasets, hubAccessOf, registryAccessOf } from "./access.ts";
import { collateKeys } from "./keys.ts";
import { formatExtended, formatRowReports, formatStatistics, rowReportsJson } from "./scan-text.ts";

const BANNER = "#".repeat(80);
const STAGES = {
  load: "Load datasets",
  validate: "Validate samples and aggregate metrics",
  collate: "Collate samples and aggregate metrics",
} as const;

/** `gym dataset collate`. */
export async function collateDatasets(context: CommandContext): Promise<number> {
  const config = await context.resolve();
  const keys = readKeys(collateKeys, config);
  // Without a config there is only the placeholder for the model of a run.
  if (config.servers.every(({ type }) => type === "responses_api_models")) {
    throw new CommandKeysError(
      "no config was given, so there are no datasets. Name one with --config FILE or --resources-server NAME.",
    );
  }
  const agents = agentsWithDatasets(config, context);
  const say = context.json ? () => {} : context.out;
  say(banner("Load and validate server instance configs"));
  say(`Server instances: ${config.servers.map(({ name }) => name).join(", ") || "none"}`);
  for (const { name, datasets } of agents) {
    const listed = datasets.map((entry) => `${entry.name} (${entry.type})`).join(", ");
    say(`- ${name}: ${listed || "no datasets"}`);
  }
  const countTokens = keys.count_tokens ? await tokenCounter() : undefined;
  const download = {
    hub: hubAccessOf(keys, context),
    registry: registryAccessOf(keys, context),
    dataSource: keys.data_source,
  };
  return withFileErrors(async () => {
    const result = await withByteProgress(context, (progress) =>
      collate({
        mode: keys.mode,
        outputDirectory: keys.output_dirpath,
        agents,
        cwd: context.io.cwd,
        roots: context.roots,
        strict: keys.strict,
        extended: () => new ExtendedStatistics(countTokens),
        overwriteMetricsConflicts: keys.overwrite_metrics_conflicts,
        signal: context.signal,
        download: keys.should_download ? download : undefined,
        onEvent: (event) => show(event, context, progress, say),
      }),
    );
    if (result.datasets.length === 0) {
      context.err(
        `Error: The config has no dataset of the types that ${keys.mode} works on. Add one to 'datasets' of an agent.`,
      );
      return 1;
    }
    finish(result, context);
    return 0;
  });
}

function banner(title: string): string {
  return `\n${BANNER}\n# ${title}\n${BANNER}`;
}

function show(
  event: CollateEvent,
  context: CommandContext,
  progress: ByteProgress,
  say: (line: string) => void,
): void {
  const { terminal } = context;
  const relative = (file: string) => relativePath(context, file);
  if (!event.event.endsWith("-progress")) progress.clear();
  switch (event.event) {
    case "rows-progress": {
      const doing = event.stage === "validate" ? "Reading" : "Writing";
      progress.update(`${doing} ${event.dataset.entry.jsonlPath}`, event.done, event.total);
      break;
    }
    case "download-progress":
      progress.update(`Downloading ${event.dataset.entry.jsonlPath}`, event.done, event.total);
      break;
    case "stage-start":
      say(banner(STAGES[event.stage]));
      break;
    case "scope":
      say(`Mode ${event.mode}: datasets of type ${event.types.join(", ")}.`);
      for (const { agent, entry, found, file } of event.datasets) {
        const place = found ? relative(file) : terminal.yellow("missing");
        say(`- ${entry.jsonlPath} (${entry.type} dataset '${entry.name}' of ${agent}): ${place}`);
      }
      break;
    case "download-start":
      say(`Downloading ${event.dataset.entry.jsonlPath}`);
      break;
    case "rows-checked":
      for (const line of formatRowReports(relative(event.dataset.file), event.scan, terminal))
        context.err(line);
      break;
    case "metrics":
      showMetrics(event, context, say);
      break;
  }
}

function showMetrics(
  { outcome, dataset, type, summary, extended }: Extract<CollateEvent, { event: "metrics" }>,
  context: CommandContext,
  say: (line: string) => void,
): void {
  const file = path.relative(context.io.cwd, outcome.file);
  const subject = dataset === undefined ? `All of type ${type}` : dataset.entry.jsonlPath;
  say(formatStatistics(`${subject}: valid examples: ${summary.examples}`, summary, context.terminal));
  if (extended) say(formatExtended(extended, context.terminal));
  if (outcome.status === "unchanged") say(`Metrics agree with ${file}, which is unchanged.`);
  else if (outcome.status === "written") say(`Metrics written to ${file}.`);
  else if (outcome.status === "overwritten") {
    context.err(`Warning: metrics in ${file} did not agree and were overwritten:`);
    for (const difference of outcome.differences) context.err(`  ${difference}`);
  }
}

function finish(result: CollateResult, context: CommandContext): void {
  const relative = (file: string) => relativePath(context, file);
  if (context.json) {
    context.out(
      JSON.stringify({
        files: result.files.map(({ type, rows, file, metricsFile }) => ({
          type,
          rows,
          file: relative(file),
          metrics_file: relative(metricsFile),
        })),
        datasets: result.datasets.map(({ dataset, scan }) => ({
          agent: dataset.agent,
          name: dataset.entry.name,
          type: dataset.entry.type,
          file: relative(dataset.file),
          ...rowReportsJson(scan),
        })),
      }),
    );
    return;
  }
  context.out(banner("Finished"));
  for (const { type, rows, file, metricsFile } of result.files) {
    context.out(`- ${type}: ${relative(file)} (${rows} rows), ${relative(metricsFile)}`);
  }
}
