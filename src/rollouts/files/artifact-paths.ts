import { basename, dirname, extname, join } from "node:path";

/** The files of a run, all beside its output. */
export interface ArtifactPaths {
  output: string;
  materializedInputs: string;
  failures: string;
  aggregateMetrics: string;
  rewardProfiling: string;
  agentMetrics: string;
  manifest: string;
  statistics: string;
  progress: string;
  /** What the run used: CPU, memory, time per rollout. */
  resources: string;
  /** Results of workers that came after the rollout had one. */
  lateResults: string;
}

/** Where the files of the run with this output lie. */
export function artifactPaths(output: string): ArtifactPaths {
  return {
    output,
    materializedInputs: sidecarPath(output, "_materialized_inputs", ".jsonl"),
    failures: sidecarPath(output, "_failures", ".jsonl"),
    aggregateMetrics: sidecarPath(output, "_aggregate_metrics", ".json"),
    rewardProfiling: sidecarPath(output, "_reward_profiling", ".jsonl"),
    agentMetrics: sidecarPath(output, "_agent_metrics", ".json"),
    manifest: sidecarPath(output, "_manifest", ".json"),
    statistics: sidecarPath(output, "_statistics", ".json"),
    progress: sidecarPath(output, "_progress", ".json"),
    resources: sidecarPath(output, "_resources", ".json"),
    lateResults: sidecarPath(output, "_late_results", ".jsonl"),
  };
}

/** `res/run.v2.json` with `_failures` and `.jsonl` gives `res/run.v2_failures.jsonl`: the last suffix is replaced. */
export function sidecarPath(output: string, marker: string, suffix: string): string {
  const name = basename(output);
  return join(dirname(output), `${name.slice(0, name.length - extname(name).length)}${marker}${suffix}`);
}
