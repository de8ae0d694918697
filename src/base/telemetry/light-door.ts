/** Spans of the running code, without what exports them. */

export {
  type Attributes,
  currentSpan,
  ending,
  errorType,
  inSpan,
  Span,
  type SpanOptions,
  traced,
} from "./span.ts";
export { readRolloutBaggage, readTraceContext, type TraceContext, traceParent } from "./trace-context.ts";
export type { Tracer } from "./tracer.ts";
