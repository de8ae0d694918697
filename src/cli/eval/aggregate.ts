import path from "node:path";
import { replaceMerge } from "../../results/replace-merge.ts";
import { findShards, ShardedRollouts } from "../../results/shards.ts";
import { type RunSummary, summarize } from "../../results/summarize.ts";
import { artifactPaths } from "../../rollouts/files/artifact-paths.ts";
import { refuseNonFile } from "../../rollouts/files/output-place.ts";
import { refuseOverwriting } from "../../rollouts/resume/prepare-run.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { startExport } from "./exporting.ts";
import { aggregateKeys } from "./keys.ts";
import { findMetricServers } from "./metric-servers.ts";
import { printSummary } from "./report.ts";

/** Runs `gym eval aggregate`: joins shards and computes the metrics of the whole. */
export async function aggregateShards(context: CommandContext): Promise<number> {
  const { io, err, signal, terminal } = context;
  const config = await context.resolve();
  const keys = readKeys(aggregateKeys, config);
  const output = path.resolve(io.cwd, keys.output_jsonl_fpath);
  await refuseNonFile(output);
  const show = (file: string) => path.relative(io.cwd, file) || file;
  const { paths, leftOut } = await findShards(keys.input_glob, io.cwd, output);
  const targets = artifactPaths(output);
  await refuseOverwriting(
    "what is aggregated",
    paths.flatMap((shard) => Object.values(artifactPaths(shard))),
    targets,
  );
  const shards = await ShardedRollouts.index(paths, { signal });
  if (keys.merge_shards) {
    await replaceMerge(shards, targets, {
      matched: leftOut.includes(output),
      onNotice: (text) => err(terminal.yellow(text)),
    });
  }
  for (const file of leftOut) err(terminal.yellow(`${show(file)} matches, but is no shard: left out.`));
  const servers = await findMetricServers(context, config, shards.agents);
  if (servers) err(`Metrics are computed by ${servers.origin}.`);
  else {
    err(
      terminal.yellow(
        "No servers run and the config names none for these agents: the default metrics are computed here, those an " +
          "environment adds are missing. Give its --config, or start it with `gym env start`.",
      ),
    );
  }
  const exporting = startExport(context, config, (text) => err(terminal.yellow(text)));
  try {
    const sidecars = paths.map(artifactPaths);
    const summary = await summarize({
      rollouts: paths,
      failures: sidecars.map(({ failures }) => failures),
      materializedInputs: sidecars.map(({ materializedInputs }) => materializedInputs),
      targets,
      metricsFrom: servers,
      signal,
      onNotice: (text) => err(terminal.yellow(text)),
    });
    printResult(context, { shards: paths.length, rows: shards.size, summary, output, keys, show });
    await exporting?.finish({ summary });
  } finally {
    await servers?.close();
  }
  return 0;
}

function printResult(
  context: CommandContext,
  result: {
    shards: number;
    rows: number;
    summary: RunSummary;
    output: string;
    keys: { merge_shards: boolean };
    show: (file: string) => string;
  },
): void {
  const { out, json } = context;
  const { shards, rows, summary, output, keys, show } = result;
  const targets = artifactPaths(output);
  const merged = keys.merge_shards ? output : null;
  const computed = summary.agents.length > 0;
  if (json) {
    out(
      JSON.stringify({
        shards,
        rows,
        output: merged,
        aggregate_metrics: computed ? targets.aggregateMetrics : null,
        statistics: computed ? targets.statistics : null,
        coverage: summary.coverage,
        agents: summary.agents.map(({ agent, metrics, statistics }) => ({
          agent,
          key_metrics: metrics.key_metrics,
          reward: statistics?.reward ?? null,
        })),
      }),
    );
    return;
  }
  out(`${rows} rollouts of ${shards} ${shards === 1 ? "shard" : "shards"}`);
  printSummary(summary, context);
  out("");
  if (merged !== null) out(`Results:  ${show(merged)}`);
  if (computed) {
    out(`Metrics:  ${show(targets.aggregateMetrics)}`);
    out(`Intervals: ${show(targets.statistics)}`);
  }
}
