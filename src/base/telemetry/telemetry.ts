import { errorMessage } from "../errors.ts";
import { rememberSecrets } from "../secrets.ts";
import { settledWithin } from "../transport/light-door.ts";
import { createExporter, type Exporter } from "./exporter.ts";
import { measureMemory } from "./memory.ts";
import { metricsRequest, traceRequest } from "./otlp.ts";
import { type SpanGroup, type TelemetrySettings, telemetrySettings, telemetryVariables } from "./settings.ts";
import type { AttributeValue, Span } from "./span.ts";
import { type SpanSink, Tracer } from "./tracer.ts";

/** Spans that wait to be sent; further ones are dropped. A span with contents counts once more for each 1,000 characters. */
const MAX_WAITING = 16_384;
/** This many are sent at once without waiting for more. */
const FULL_BATCH = 512;
const MAX_BATCH = 2_048;
/** Less than a stopping process has until it is killed. */
const CLOSE_MS = 2_000;

export interface TelemetryOptions {
  /** The `telemetry` block of the config. */
  block: unknown;
  env?: Readonly<Record<string, string | undefined>>;
  /** The version of the package. */
  version: string;
  onNotice?: (text: string) => void;
  /** Whether another process of the run has shown the warnings about the settings. */
  isChild?: boolean;
  /** Receives the lines of `exporter: console`. Default: stderr. */
  write?: (line: string) => void;
}

/** The traces and metrics of a process, and their way to a receiver. It never delays or fails the work that it describes. */
export class Telemetry implements SpanSink {
  /** Variables for processes that belong to the same run. */
  readonly variables: Readonly<Record<string, string>>;
  /** The tracer of the program itself. */
  readonly tracer: Tracer;
  readonly #settings: TelemetrySettings;
  readonly version: string;
  readonly #exporter: Exporter;
  readonly #notify: (text: string) => void;
  readonly #tracers: Tracer[] = [];
  readonly #startedAt = Date.now();
  readonly #stop = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #waiting: Span[] = [];
  #weight = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #measuring: Promise<void> | undefined;
  #dropped = 0;
  #hasFailed = false;

  private constructor(settings: TelemetrySettings, options: TelemetryOptions) {
    const { version, onNotice = () => {}, write = (line) => process.stderr.write(line) } = options;
    this.#settings = settings;
    this.version = version;
    this.#notify = (text) => onNotice(`Telemetry: ${text}`);
    this.#exporter = createExporter(settings, write);
    this.variables = telemetryVariables(settings);
    this.tracer = this.#addTracer(settings.serviceName, {});
    // Their values are keys of the receiver, whatever the names are.
    rememberSecrets({ api_keys: settings.headers });
    if (!options.isChild) for (const warning of settings.warnings) this.#notify(warning);
    if (settings.metrics) this.#every(settings.metricIntervalMs, () => this.#sendMetrics());
    const { memoryIntervalMs } = settings;
    if (memoryIntervalMs !== undefined) {
      const measure = measureMemory(this.tracer);
      this.#every(memoryIntervalMs, measure);
    }
  }

  /** Undefined if the config does not enable telemetry. */
  static open(options: TelemetryOptions): Telemetry | undefined {
    const settings = telemetrySettings(options.block, options.env ?? process.env);
    return settings && new Telemetry(settings, options);
  }

  get groups(): ReadonlySet<SpanGroup> {
    return this.#settings.groups;
  }
  get sampled(): number {
    return this.#settings.traces ? this.#settings.sampled : 0;
  }
  get metrics(): boolean {
    return this.#settings.metrics;
  }
  get contents(): boolean {
    return this.#settings.contents;
  }

  /** The tracer of one server. */
  tracerOf(server: { name: string; type: string }): Tracer {
    const { serviceName, servicePerServer } = this.#settings;
    return this.#addTracer(servicePerServer ? `${serviceName}/${server.name}` : serviceName, {
      "nemo.gym.server.name": server.name,
      "nemo.gym.server.type": server.type,
    });
  }

  #addTracer(service: string, attributes: Record<string, AttributeValue>): Tracer {
    const { serviceName, runId, resource } = this.#settings;
    const tracer = new Tracer(this, {
      ...resource,
      "service.name": service,
      "service.instance.id": `${process.pid}-${this.#startedAt}`,
      "nemo.gym.service_group": serviceName,
      "nemo.gym.version": this.version,
      "nemo.run.id": runId,
      "process.pid": process.pid,
      "telemetry.sdk.name": "nemo-gym",
      "telemetry.sdk.language": "nodejs",
      "telemetry.sdk.version": this.version,
      ...attributes,
    });
    this.#tracers.push(tracer);
    return tracer;
  }

  ended(span: Span): void {
    if (!this.#settings.traces || this.#stop.signal.aborted) return;
    const weight = weightOf(span);
    if (this.#weight + weight > MAX_WAITING) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(span);
    this.#weight += weight;
    if (this.#waiting.length >= FULL_BATCH) this.#startSending();
    else this.#timer ??= setTimeout(() => this.#startSending(), this.#settings.spanDelayMs).unref();
  }

  #startSending(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendSpans().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendSpans(): Promise<void> {
    // Not within the span that has ended.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      try {
        await this.#exporter.send("traces", traceRequest(batch, this.contents), this.#stop.signal);
      } catch (error) {
        this.#dropped += batch.length;
        this.#failed(error);
      }
    }
  }

  #takeBatch(): Span[] {
    let weight = 0;
    let count = 0;
    for (const span of this.#waiting) {
      weight += weightOf(span);
      if (count > 0 && weight > MAX_BATCH) break;
      count++;
    }
    const batch = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    this.#weight = this.#waiting.reduce((sum, span) => sum + weightOf(span), 0);
    return batch;
  }

  #sendMetrics(): Promise<void> {
    this.#measuring ??= this.#sendMetricsOnce().finally(() => {
      this.#measuring = undefined;
    });
    return this.#measuring;
  }

  async #sendMetricsOnce(): Promise<void> {
    const request = metricsRequest(this.#tracers, this.#startedAt, Date.now());
    if (request === undefined) return;
    try {
      await this.#exporter.send("metrics", request, this.#stop.signal);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Says once that the receiver does not work. Its count at the end says how much is missing. */
  #failed(error: unknown): void {
    if (this.#hasFailed || this.#stop.signal.aborted) return;
    this.#hasFailed = true;
    this.#notify(`${errorMessage(error)}. The run continues; what cannot be sent is dropped.`);
  }

  #every(milliseconds: number, work: () => unknown): void {
    this.#timers.push(setInterval(work, milliseconds).unref());
  }

  /** Sends what is left, for at most two seconds. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    const flush = async () => {
      await this.#measuring;
      if (this.#settings.metrics) await this.#sendMetrics();
    };
    this.#startSending();
    await settledWithin(Promise.all([this.#sending, flush()]), CLOSE_MS);
    this.#dropped += this.#waiting.length;
    this.#stop.abort(new Error("telemetry is closed"));
    await this.#exporter.close();
    if (this.#dropped > 0) this.#notify(`${this.#dropped} spans were dropped.`);
  }
}

const weightOf = ({ contentLength }: Span): number => 1 + Math.floor(contentLength / 1_000);
