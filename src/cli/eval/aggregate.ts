import { type AggregateResult, aggregate } from "../../run/door.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { relativePath } from "../files.ts";
import { countText } from "../render/progress.ts";
import { healthSetting, printHealth } from "./health-check.ts";
import { aggregateKeys } from "./keys.ts";
import { printSummary, printTracked } from "./report.ts";

/** Runs `gym eval aggregate`: joins shards and computes their overall metrics. */
export async function aggregateShards(context: CommandContext): Promise<number> {
  const { io, installRoot, err, signal, terminal } = context;
  const config = await context.resolve();
  const keys = readKeys(aggregateKeys, config);
  const onNotice = (text: string) => err(terminal.yellow(text));
  const result = await aggregate({
    shards: keys.input_glob,
    output: keys.output_jsonl_fpath,
    merge: keys.merge_shards,
    config,
    onNotice,
    onStatus: err,
    signal,
    countFailuresAsZero: keys.count_failure_classes_as_zero?.map(String),
    countMissingAsZero: keys.count_missing_rollouts_as_zero,
    healthCheck: healthSetting(keys),
    cwd: io.cwd,
    env: context.env,
    roots: context.roots,
    installRoot,
  });
  printResult(context, result, keys.merge_shards);
  printHealth(result.health, context);
  printTracked(result.tracked, context);
  return 0;
}

function printResult(
  context: CommandContext,
  { shards, rows, summary, paths: targets }: AggregateResult,
  isMerged: boolean,
): void {
  const { out, json } = context;
  const show = (file: string) => relativePath(context, file);
  const merged = isMerged ? targets.output : null;
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
  out(`${rows} rollouts of ${countText(shards, "shard")}`);
  printSummary(summary, context);
  out("");
  if (merged !== null) out(`Results:   ${show(merged)}`);
  if (computed) {
    out(`Metrics:   ${show(targets.aggregateMetrics)}`);
    out(`Intervals: ${show(targets.statistics)}`);
  }
}
