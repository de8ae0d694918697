import { redactKnown } from "../secrets.ts";
import { INSTRUMENTS, type Point } from "./metrics.ts";
import { type AttributeValue, CONTENT_ATTRIBUTES, MAX_CONTENT, SPAN_KINDS, type Span } from "./span.ts";
import type { Tracer } from "./tracer.ts";

/** Messages of OTLP in their JSON form. 64-bit numbers are decimal strings there. */
type Message = Record<string, unknown>;

const SCOPE = "nemo-gym";
const STATUS_ERROR = 2;
const CUMULATIVE = 2;
/** Longer texts are cut. */
const MAX_TEXT = 1_000;

/** An `ExportTraceServiceRequest`. */
export function traceRequest(spans: readonly Span[], contents: boolean): Message {
  const byTracer = new Map<Tracer, Span[]>();
  for (const span of spans) {
    const own = byTracer.get(span.tracer);
    if (own) own.push(span);
    else byTracer.set(span.tracer, [span]);
  }
  return {
    resourceSpans: [...byTracer].map(([{ resource }, own]) => ({
      resource: { attributes: keyValues(resource) },
      scopeSpans: [{ scope: { name: SCOPE }, spans: own.map((span) => spanMessage(span, contents)) }],
    })),
  };
}

function spanMessage(span: Span, contents: boolean): Message {
  const { context, parentId, name, kind, startedAt, endedAt, attributes, errorType, link } = span;
  const { traceId, spanId, state } = context ?? {};
  return {
    traceId,
    spanId,
    ...(state !== undefined && { traceState: state }),
    ...(parentId !== undefined && { parentSpanId: parentId }),
    flags: 1,
    name: clean(name, MAX_TEXT),
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: keyValues({
      ...(span.rolloutId !== undefined && { "nemo.gym.rollout.id": span.rolloutId }),
      ...attributes,
      ...(errorType !== undefined && { "error.type": errorType }),
    }),
    ...(link && { links: [{ traceId: link.traceId, spanId: link.spanId, flags: 1 }] }),
    ...(errorType !== undefined && {
      status: {
        code: STATUS_ERROR,
        ...(contents && span.errorMessage !== undefined && { message: clean(span.errorMessage, MAX_TEXT) }),
      },
    }),
  };
}

/** An `ExportMetricsServiceRequest`; undefined when nothing was measured. */
export function metricsRequest(
  tracers: Iterable<Tracer>,
  startedAt: number,
  now: number,
): Message | undefined {
  const resourceMetrics: Message[] = [];
  for (const { resource, meter } of tracers) {
    if (meter.metrics.size === 0) continue;
    const metrics = [...meter.metrics].map(([name, points]) => {
      const { kind, unit, description, ...rest } = INSTRUMENTS[name];
      const bounds = "bounds" in rest ? rest.bounds : [];
      const times = { startTimeUnixNano: nanoseconds(startedAt), timeUnixNano: nanoseconds(now) };
      const dataPoints = [...points.values()].map((point) => ({
        attributes: keyValues(point.attributes),
        ...times,
        ...(kind === "histogram" ? histogramPoint(point, bounds) : { asDouble: point.value }),
      }));
      const data =
        kind === "gauge"
          ? { gauge: { dataPoints } }
          : kind === "histogram"
            ? { histogram: { dataPoints, aggregationTemporality: CUMULATIVE } }
            : { sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: kind === "count" } };
      return { name, unit, description, ...data };
    });
    resourceMetrics.push({
      resource: { attributes: keyValues(resource) },
      scopeMetrics: [{ scope: { name: SCOPE }, metrics }],
    });
  }
  return resourceMetrics.length === 0 ? undefined : { resourceMetrics };
}

function histogramPoint({ count, value, buckets, min, max }: Point, bounds: readonly number[]): Message {
  return {
    count: String(count),
    sum: value,
    bucketCounts: buckets.map(String),
    explicitBounds: bounds,
    min,
    max,
  };
}

function keyValues(attributes: Readonly<Record<string, AttributeValue | undefined>>): Message[] {
  const found: Message[] = [];
  for (const key in attributes) {
    const value = attributes[key];
    if (value !== undefined) found.push({ key, value: anyValue(key, value) });
  }
  return found;
}

/** Numbers with fractions, so that the type of the attribute does not depend on the value. */
const FRACTIONAL = /temperature|top_p|_seconds$/;

function anyValue(key: string, value: AttributeValue): Message {
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) && !FRACTIONAL.test(key)
      ? { intValue: String(value) }
      : { doubleValue: value };
  const longest = CONTENT_ATTRIBUTES.has(key) ? MAX_CONTENT : MAX_TEXT;
  if (typeof value === "string") return { stringValue: clean(value, longest) };
  return { arrayValue: { values: value.map((each) => ({ stringValue: clean(each, longest) })) } };
}

/** Texts come from models and configs. A lone surrogate is not valid UTF-8. */
function clean(text: string, longest: number): string {
  return redactKnown(text.slice(0, longest)).replace(/\p{Cs}/gu, "\ufffd");
}

function nanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  const rest = Math.floor((milliseconds - whole) * 1e6);
  return `${whole}${String(rest).padStart(6, "0")}`;
}
