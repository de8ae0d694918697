import { errorMessage } from "../../base/errors.ts";
import type { RetryPolicy } from "../../data/remote/light-door.ts";

/** Few and short, because the user waits for a finished run. */
export const EXPORT_RETRIES: RetryPolicy = { attempts: 4, baseDelayMs: 300, maxDelayMs: 5_000 };

export type MetricValues = Readonly<Record<string, boolean | number | string | null>>;

/** Sends the results of a run to a tracking service. Every call may throw; `RunExporters` turns that into a warning. */
export interface RunExporter {
  /** `Weights & Biases`, `MLflow`. */
  readonly name: string;
  /** Creates the run in the service, with the config. */
  open(signal: AbortSignal): Promise<void>;
  logMetrics(metrics: MetricValues, signal: AbortSignal): Promise<void>;
  /** Each text is a rollout row as JSON. */
  logRollouts(rows: AsyncIterable<string>, signal: AbortSignal): Promise<void>;
  /** Ends the run. Returns its address or directory, if that is known. */
  close(signal: AbortSignal): Promise<string | undefined>;
}

/** The data of a run that every exporter needs. */
export interface ExportedRun {
  /** The resolved config with masked secrets. */
  config: Record<string, unknown>;
  startedAt: Date;
  onWarning: (text: string) => void;
}

/** Time limits of a step. Rollouts may be gigabytes. */
const STEP_LIMIT_MS = 120_000;
const UPLOAD_LIMIT_MS = 30 * 60_000;

/**
 * The exporters of a run. The failure of an exporter is a warning and affects neither the run nor the other exporters. An
 * exporter that cannot be opened is not used.
 */
export class RunExporters {
  readonly #opened: Promise<RunExporter[]>;
  readonly #onWarning: (text: string) => void;
  readonly #signal: AbortSignal | undefined;

  /** Starts to open the exporters and does not wait for them. */
  constructor(
    exporters: readonly RunExporter[],
    options: { onWarning: (text: string) => void; signal?: AbortSignal },
  ) {
    this.#onWarning = options.onWarning;
    this.#signal = options.signal;
    this.#opened = Promise.all(
      exporters.map(async (exporter) => {
        const ok = await this.#step(exporter, STEP_LIMIT_MS, (signal) => exporter.open(signal));
        return ok ? [exporter] : [];
      }),
    ).then((lists) => lists.flat());
  }

  async metrics(metrics: MetricValues): Promise<void> {
    await this.#each(STEP_LIMIT_MS, (exporter, signal) => exporter.logMetrics(metrics, signal));
  }

  /** `rows` is called once for each exporter. */
  async rollouts(rows: () => AsyncIterable<string>): Promise<void> {
    await this.#each(UPLOAD_LIMIT_MS, (exporter, signal) => exporter.logRollouts(rows(), signal));
  }

  /** Ends the runs in the services and returns their addresses. */
  async close(): Promise<{ exporter: string; place: string }[]> {
    const places: { exporter: string; place: string }[] = [];
    await this.#each(STEP_LIMIT_MS, async (exporter, signal) => {
      const place = await exporter.close(signal);
      if (place !== undefined) places.push({ exporter: exporter.name, place });
    });
    return places;
  }

  async #each(
    limitMs: number,
    action: (exporter: RunExporter, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const exporters = await this.#opened;
    await Promise.all(
      exporters.map((exporter) => this.#step(exporter, limitMs, (signal) => action(exporter, signal))),
    );
  }

  async #step(
    exporter: RunExporter,
    limitMs: number,
    action: (signal: AbortSignal) => Promise<void>,
  ): Promise<boolean> {
    const limit = AbortSignal.timeout(limitMs);
    const signal = this.#signal ? AbortSignal.any([this.#signal, limit]) : limit;
    try {
      await action(signal);
      return true;
    } catch (error) {
      const problem = limit.aborted ? `not finished within ${limitMs / 1000} s` : errorMessage(error);
      this.#onWarning(`${exporter.name}: ${problem}. The results of the run are not affected.`);
      return false;
    }
  }
}
