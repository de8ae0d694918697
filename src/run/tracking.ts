import path from "node:path";
import type { ResolvedConfig } from "../config/door.ts";
import type { ArtifactPaths } from "../records/files/door.ts";
import type { RunSummary } from "./summarize.ts";
import { configuredExporters } from "./trackers/configured-exporters.ts";
import { exportedMetrics, exportedRows } from "./trackers/exported-results.ts";
import { RunExporters } from "./trackers/run-exporters.ts";

/** A tracking service that received the results of a run, and the address of the run there. */
export interface TrackedRun {
  exporter: string;
  place: string;
}

/** The tracking services of a run, which may still be opening. */
export interface RunTracking {
  /** Sends the results and ends the runs in the services. A failure is a warning. */
  finish(results: { summary: RunSummary | undefined; rollouts?: ArtifactPaths }): Promise<TrackedRun[]>;
}

export interface TrackingOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal | undefined;
  onWarning: (text: string) => void;
}

/** Starts to open the tracking services whose keys are set; see docs/reference/exporters.md. */
export function startTracking(
  config: ResolvedConfig,
  { cwd, env, signal, onWarning }: TrackingOptions,
): RunTracking | undefined {
  const configured = config.get("results_dir");
  const exporters = configuredExporters({
    get: (key) => config.get(key),
    env,
    config: config.toObject({ hideSecrets: true }),
    startedAt: new Date(),
    resultsDirectory: typeof configured === "string" ? configured : path.join(cwd, "results"),
    onWarning,
  });
  if (exporters.length === 0) return undefined;
  const running = new RunExporters(exporters, { onWarning, signal });
  return {
    async finish({ summary, rollouts }) {
      if (summary) await running.metrics(exportedMetrics(summary));
      if (rollouts) await running.rollouts(() => exportedRows(rollouts));
      return running.close();
    },
  };
}

/** Whether rollouts are sent too; the older key still works, but the newer one takes precedence. */
export function uploadsRollouts(
  config: ResolvedConfig,
  upload: boolean,
  onWarning: (text: string) => void,
): boolean {
  const older = config.get("upload_rollouts_to_wandb");
  if (typeof older !== "boolean") return upload;
  onWarning("upload_rollouts_to_wandb is deprecated; use upload_rollouts.");
  return (config.get("upload_rollouts") ?? null) === null ? older : upload;
}
