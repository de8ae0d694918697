import type { RetryPolicy } from "../remote/retry.ts";

/** Few and quick: the user is waiting for a finished run. */
export const EXPORT_RETRIES: RetryPolicy = { attempts: 4, baseDelayMs: 300, maxDelayMs: 5_000 };

/** What an exporter takes as metrics. */
export type MetricValues = Readonly<Record<string, boolean | number | string | null>>;

/** Sends the results of a run to a tracking service. Every call may throw; `RunExporters` turns that into a warning. */
export interface Exporter {
  /** `Weights & Biases`, `MLflow`. */
  readonly name: string;
  /** Creates the run over there, with the config. */
  open(signal: AbortSignal): Promise<void>;
  logMetrics(metrics: MetricValues, signal: AbortSignal): Promise<void>;
  /** Each text is a rollout row as JSON. */
  logRollouts(rows: AsyncIterable<string>, signal: AbortSignal): Promise<void>;
  /** Ends the run; gives where it can be seen, if that is known. */
  close(signal: AbortSignal): Promise<string | undefined>;
}

/** What exporters know about a run. */
export interface ExportedRun {
  /** The resolved config with its secrets masked. */
  config: Record<string, unknown>;
  startedAt: Date;
}
