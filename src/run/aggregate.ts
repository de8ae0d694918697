import path from "node:path";
import {
  callback,
  checkOptions,
  flag,
  type OptionTable,
  record,
  signal,
  text,
  texts,
} from "../check-options.ts";
import { findShards, replaceMerge, ShardedRollouts } from "../results/shards.ts";
import { type RunSummary, summarize } from "../results/summarize.ts";
import { type ArtifactPaths, artifactPaths, refuseNonFile } from "../rollouts/files/artifact-paths.ts";
import { refuseOverwriting } from "../rollouts/resume/prepare-run.ts";
import { findMetricServers } from "./metric-servers.ts";
import { type RunConfig, resolveRun } from "./run-config.ts";

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
  cwd?: string;
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
  cwd: text.optional(),
  roots: texts.optional(),
  installRoot: text.optional(),
};

export interface AggregateResult {
  shards: number;
  rows: number;
  summary: RunSummary;
  paths: ArtifactPaths;
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
  const output = path.resolve(cwd, options.output);
  await refuseNonFile(output);
  const { paths, leftOut } = await findShards(options.shards, cwd, output);
  const targets = artifactPaths(output);
  await refuseOverwriting(
    "what is aggregated",
    paths.flatMap((shard) => Object.values(artifactPaths(shard))),
    targets,
  );
  const shards = await ShardedRollouts.index(paths, { signal });
  if (options.merge !== false)
    await replaceMerge(shards, targets, { matched: leftOut.includes(output), onNotice });
  for (const file of leftOut) onNotice(`${path.relative(cwd, file)} matches, but is not a shard: left out.`);
  const servers =
    options.config &&
    (await findMetricServers((await resolveRun(options.config)).config, shards.agents, options));
  if (servers) onStatus(`Metrics are computed by ${servers.origin}.`);
  else
    onNotice(
      "No servers are running and the config has none for these agents: only the default metrics are computed, without those " +
        "that an environment adds. Pass its --config, or start it with `gym env start`.",
    );
  try {
    const sidecars = paths.map(artifactPaths);
    const summary = await summarize({
      rollouts: paths,
      failures: sidecars.map(({ failures }) => failures),
      materializedInputs: sidecars.map(({ materializedInputs }) => materializedInputs),
      targets,
      metricsFrom: servers,
      signal,
      onNotice,
    });
    return { shards: paths.length, rows: shards.size, summary, paths: targets };
  } finally {
    await servers?.close();
  }
}
