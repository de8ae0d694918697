import { Meter, type MetricName } from "./metrics.ts";
import type { SpanGroup } from "./settings.ts";
import { type Attributes, type AttributeValue, randomHex, Span, type SpanOptions } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";

/** What a tracer needs of the telemetry of its process. */
export interface SpanSink {
  readonly groups: ReadonlySet<SpanGroup>;
  /** Share of the new traces that are recorded. */
  readonly sampled: number;
  /** Whether prompts, answers and messages of errors may be exported. */
  readonly contents: boolean;
  readonly metrics: boolean;
  ended(span: Span): void;
}

/** The spans and metrics of one service: a server, or the program that collects. */
export class Tracer {
  readonly resource: Readonly<Record<string, AttributeValue>>;
  readonly meter = new Meter();
  readonly #sink: SpanSink;

  constructor(sink: SpanSink, resource: Readonly<Record<string, AttributeValue>>) {
    this.#sink = sink;
    this.resource = resource;
  }

  get contents(): boolean {
    return this.#sink.contents;
  }

  /** Starts a span below `parent`, or a new trace. A span of a group that is off only passes on its parent. */
  start(group: SpanGroup, name: string, parent?: TraceContext, options: SpanOptions = {}): Span {
    const { groups, sampled } = this.#sink;
    if (parent !== undefined)
      return new Span(this, name, parent.sampled && groups.has(group), parent, options);
    if (sampled >= 1 || Math.random() < sampled)
      return new Span(this, name, groups.has(group), undefined, options);
    return new Span(
      this,
      name,
      false,
      { traceId: randomHex(16), spanId: randomHex(8), sampled: false },
      options,
    );
  }

  ended(span: Span): void {
    this.#sink.ended(span);
  }

  record(name: MetricName, value: number, attributes?: Attributes): void {
    if (this.#sink.metrics) this.meter.record(name, value, attributes);
  }
}
