import { errorMessage } from "../errors.ts";
import type { Exporter, MetricValues } from "./exporter.ts";

/** What one step of an exporter may take. Rollouts may be gigabytes. */
const STEP_LIMIT_MS = 120_000;
const UPLOAD_LIMIT_MS = 30 * 60_000;

/**
 * The exporters of a run, best effort: a failure of one is a warning and affects neither the run nor the others.
 * An exporter that could not be opened is left out.
 */
export class RunExporters {
  readonly #opened: Promise<Exporter[]>;
  readonly #onWarning: (text: string) => void;
  readonly #signal: AbortSignal | undefined;

  /** Begins to open the exporters, without waiting for them. */
  constructor(
    exporters: readonly Exporter[],
    options: { onWarning: (text: string) => void; signal?: AbortSignal | undefined },
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

  /** Ends the runs over there; gives where they can be seen. */
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
    action: (exporter: Exporter, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const exporters = await this.#opened;
    await Promise.all(
      exporters.map((exporter) => this.#step(exporter, limitMs, (signal) => action(exporter, signal))),
    );
  }

  async #step(
    exporter: Exporter,
    limitMs: number,
    action: (signal: AbortSignal) => Promise<void>,
  ): Promise<boolean> {
    const limit = AbortSignal.timeout(limitMs);
    const signal = this.#signal ? AbortSignal.any([this.#signal, limit]) : limit;
    try {
      await action(signal);
      return true;
    } catch (error) {
      const problem = limit.aborted ? `no end within ${limitMs / 1000} s` : errorMessage(error);
      this.#onWarning(`${exporter.name}: ${problem}. The results of the run are not affected.`);
      return false;
    }
  }
}
