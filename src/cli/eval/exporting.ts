import path from "node:path";
import type { ResolvedConfig } from "../../config/resolved-config.ts";
import type { RunSummary } from "../../results/summarize.ts";
import type { ArtifactPaths } from "../../rollouts/files/artifact-paths.ts";
import { configuredExporters } from "../../tracking/configured-exporters.ts";
import { exportedMetrics, exportedRows } from "../../tracking/exported-results.ts";
import { RunExporters } from "../../tracking/run-exporters.ts";
import type { CommandContext } from "../command.ts";

/** The exporters of a command, which may still be opening; undefined when the config has none. */
export interface RunExport {
  /** Sends the results and ends the runs of the exporters. A failure is a warning. */
  finish(results: { summary: RunSummary | undefined; rollouts?: ArtifactPaths }): Promise<void>;
}

/** Starts to open the exporters whose keys are set; see docs/reference/exporters.md. */
export function startExport(
  context: CommandContext,
  config: ResolvedConfig,
  onWarning: (text: string) => void,
): RunExport | undefined {
  const { io, env, err, json } = context;
  const configured = config.get("results_dir");
  const exporters = configuredExporters({
    get: (key) => config.get(key),
    env,
    config: config.toObject({ hideSecrets: true }),
    startedAt: new Date(),
    resultsDirectory: typeof configured === "string" ? configured : path.join(io.cwd, "results"),
    onWarning,
  });
  if (exporters.length === 0) return undefined;
  const running = new RunExporters(exporters, { onWarning, signal: io.stopSignal });
  return {
    async finish({ summary, rollouts }) {
      if (summary) await running.metrics(exportedMetrics(summary));
      if (rollouts) await running.rollouts(() => exportedRows(rollouts));
      for (const { exporter, place } of await running.close())
        if (!json) err(`Exported to ${exporter}: ${place}`);
    },
  };
}

/** Whether rollouts are sent too; the older key still works, but the newer one takes precedence. */
export function uploadsRollouts(
  config: ResolvedConfig,
  upload: boolean,
  warn: (text: string) => void,
): boolean {
  const older = config.get("upload_rollouts_to_wandb");
  if (typeof older !== "boolean") return upload;
  warn("upload_rollouts_to_wandb is deprecated; use upload_rollouts.");
  return (config.get("upload_rollouts") ?? null) === null ? older : upload;
}
