import path from "node:path";
import { z } from "zod";
import {
  callback,
  checkOptions,
  flag,
  type OptionTable,
  record,
  signal,
  text,
  texts,
} from "../base/check-options.ts";
import { type ArtifactPaths, artifactPaths, assertRegularFile } from "../records/files/door.ts";
import type { HealthReport } from "../records/results/light-door.ts";
import { zeroSetting } from "./count-as-zero.ts";
import { checkAfterRun, type HealthSetting } from "./health-after-run.ts";
import { findMetricServers } from "./metric-servers.ts";
import { assertNotOverwriting } from "./resume/prepare-run.ts";
import { type RunConfig, resolveRun } from "./run-config.ts";
import { findShards, replaceMerge, ShardedRollouts } from "./shards.ts";
import { type RunSummary, summarize } from "./summarize.ts";
import { startTracking, type TrackedRun } from "./tracking.ts";

export interface AggregateOptions {
  /** Shell patterns of the rollout files, separated by commas. */
  shards: string;
  /** Where the merged rollouts go; the metrics are written next to it. */
  output: string;
  /** Writes the merged rollouts. Default: true. */
  merge?: boolean;
  /**
   * Config with the servers that compute the metrics of their agents. Default: the default metrics are computed in this
   * process.
   */
  config?: RunConfig;
  /** Receives warnings. */
  onNotice?: (text: string) => void;
  /** Receives progress. */
  onStatus?: (text: string) => void;
  signal?: AbortSignal;
  /** Classes of failures that count as zero in the metrics. Default: none. */
  countFailuresAsZero?: readonly string[];
  /** Rollouts that left neither a result nor a failure count as zero in the metrics. */
  countMissingAsZero?: boolean;
  /** Checks the health of the merged rollouts; false: no check. Default: a check. */
  healthCheck?: HealthSetting;
  cwd?: string;
  env?: Readonly<Record<string, string | undefined>>;
  roots?: readonly string[];
  installRoot?: string;
}

const optionTable: OptionTable<AggregateOptions> = {
  shards: text,
  output: text,
  merge: flag.optional(),
  config: record.optional(),
  onNotice: callback.optional(),
  onStatus: callback.optional(),
  signal: signal.optional(),
  countFailuresAsZero: texts.optional(),
  countMissingAsZero: flag.optional(),
  healthCheck: z.union([z.literal(false), record], "must be false or an object").optional(),
  cwd: text.optional(),
  env: record.optional(),
  roots: texts.optional(),
  installRoot: text.optional(),
};

export interface AggregateResult {
  shards: number;
  rows: number;
  summary: RunSummary;
  paths: ArtifactPaths;
  /** What the health check found; undefined without a check. */
  health: HealthReport | undefined;
  /** The tracking services that received the results. */
  tracked: readonly TrackedRun[];
}

/**
 * Joins the rollouts of several runs and computes the metrics of the whole.
 *
 * @example
 * const { summary } = await aggregate({ shards: "results/shard-*.jsonl", output: "results/all.jsonl" });
 */
export async function aggregate(options: AggregateOptions): Promise<AggregateResult> {
  checkOptions("aggregate", optionTable, options);
  const { onNotice = () => {}, onStatus = () => {}, cwd = process.cwd(), signal } = options;
  const { env = process.env, merge = true, healthCheck = {} } = options;
  const output = path.resolve(cwd, options.output);
  await assertRegularFile(output);
  const { paths, leftOut } = await findShards(options.shards, cwd, output);
  const targets = artifactPaths(output);
  await assertNotOverwriting(
    "what is aggregated",
    paths.flatMap((shard) => Object.values(artifactPaths(shard))),
    targets,
  );
  const shards = await ShardedRollouts.index(paths, { signal });
  if (merge) await replaceMerge(shards, targets, { matched: leftOut.includes(output), onNotice });
  for (const file of leftOut) onNotice(`${path.relative(cwd, file)} matches, but is not a shard: left out.`);
  const config = options.config && (await resolveRun(options.config)).config;
  const servers = config && (await findMetricServers(config, shards.agents, options));
  if (servers) onStatus(`Metrics are computed by ${servers.origin}.`);
  else
    onNotice(
      "No servers are running and the config has none for these agents: only the default metrics are computed, without those " +
        "that an environment adds. Pass its --config, or start it with `gym env start`.",
    );
  const tracking = config && startTracking(config, { cwd, env, signal, onWarning: onNotice });
  try {
    const sidecars = paths.map(artifactPaths);
    const summary = await summarize({
      rollouts: paths,
      failures: sidecars.map(({ failures }) => failures),
      materializedInputs: sidecars.map(({ materializedInputs }) => materializedInputs),
      targets,
      zeros: zeroSetting(options),
      metricsFrom: servers,
      signal,
      onNotice,
    });
    const health = merge ? await checkAfterRun(output, healthCheck, { onNotice, signal }) : undefined;
    const tracked = (await tracking?.finish({ summary })) ?? [];
    return { shards: paths.length, rows: shards.size, summary, paths: targets, health, tracked };
  } finally {
    await servers?.close();
  }
}
