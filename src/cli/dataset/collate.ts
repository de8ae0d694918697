import path from "node:path";
import { type CollateEvent, type CollateResult, collate } from "../../datasets/collate.ts";
import { agentsOf } from "../../datasets/entry.ts";
import { ExtendedStatistics, tokenCounter } from "../../datasets/statistics/extended-statistics.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { CommandKeysError } from "../errors.ts";
import { hubAccess, registryAccess } from "./access.ts";
import { withFileErrors } from "./input-file.ts";
import { collateKeys } from "./keys.ts";
import { formatExtended, formatRowReports, formatStatistics, rowReportsJson } from "./scan-text.ts";
import { ByteProgress } from "./transfer-progress.ts";

const BANNER = "#".repeat(80);
const STAGES = {
  load: "Load datasets",
  validate: "Validate samples and aggregate metrics",
  collate: "Collate samples and aggregate metrics",
} as const;

/** `gym dataset collate`. */
export async function collateDatasets(context: CommandContext, json: boolean): Promise<number> {
  const config = await context.resolve();
  const keys = readKeys(collateKeys, config);
  // Without a config there is only the placeholder for the model of a run.
  if (config.servers.every(({ type }) => type === "responses_api_models")) {
    throw new CommandKeysError(
      "no config was given, so there are no datasets. Name one with --config FILE or --resources-server NAME.",
    );
  }
  const agents = config.servers.filter(({ type }) => type === "responses_api_agents");
  const { agents: withDatasets, rejected } = agentsOf(
    agents.map(({ name, config: block }) => ({ name, datasets: block["datasets"] })),
  );
  for (const { problems } of rejected) for (const problem of problems) context.err(`Warning: ${problem}`);
  const say = json ? () => {} : context.out;
  say(banner("Load and validate server instance configs"));
  say(`Server instances: ${config.servers.map(({ name }) => name).join(", ") || "none"}`);
  for (const { name, datasets } of withDatasets) {
    const listed = datasets.map((entry) => `${entry.name} (${entry.type})`).join(", ");
    say(`- ${name}: ${listed || "no datasets"}`);
  }
  const progress = new ByteProgress(context);
  const countTokens = keys.count_tokens ? await tokenCounter() : undefined;
  return withFileErrors(async () => {
    try {
      const result = await collate({
        mode: keys.mode,
        outputDirectory: keys.output_dirpath,
        agents: withDatasets,
        cwd: context.io.cwd,
        roots: context.roots,
        strict: keys.strict,
        extended: () => new ExtendedStatistics(countTokens),
        overwriteMetricsConflicts: keys.overwrite_metrics_conflicts,
        signal: context.signal,
        ...(keys.should_download && {
          download: {
            hub: hubAccess(keys, context),
            registry: registryAccess(keys, context),
            dataSource: keys.data_source,
          },
        }),
        onEvent: (event) => show(event, context, progress, say),
      });
      progress.end();
      if (result.datasets.length === 0) {
        context.err(
          `Error: The config has no dataset of the types that ${keys.mode} works on. Add one to 'datasets' of an agent.`,
        );
        return 1;
      }
      finish(result, context, json);
      return 0;
    } finally {
      progress.end();
    }
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
  const { terminal, io } = context;
  const relative = (file: string) => path.relative(io.cwd, file) || file;
  switch (event.event) {
    case "rows-progress":
      progress.update(
        `${event.stage === "validate" ? "Reading" : "Writing"} ${event.dataset.entry.jsonlPath}`,
        event.done,
        event.total,
      );
      return;
    case "download-progress":
      progress.update(`Downloading ${event.dataset.entry.jsonlPath}`, event.done, event.total);
      return;
    default:
      progress.clear();
  }
  switch (event.event) {
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
    default:
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
  if (outcome.status === "unchanged") say(`Metrics agree with ${file}, which is left as it is.`);
  else if (outcome.status === "written") say(`Metrics written to ${file}.`);
  else if (outcome.status === "overwritten") {
    context.err(`Warning: metrics in ${file} did not agree and were overwritten:`);
    for (const difference of outcome.differences) context.err(`  ${difference}`);
  }
}

function finish(result: CollateResult, context: CommandContext, json: boolean): void {
  const relative = (file: string) => path.relative(context.io.cwd, file) || file;
  if (json) {
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
