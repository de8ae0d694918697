/** The place of a span in its trace, as the W3C header `traceparent` carries it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  sampled: boolean;
  /** The header `tracestate`, which is passed on unread. */
  state?: string;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_STATE = 512;
const ROLLOUT_ENTRY = "nemo.gym.rollout.id";
const ROLLOUT_ID = /^[\w.-]{1,128}$/;

/** Reads the trace context of a request; undefined without one, or with one that is not valid. */
export function readTraceContext(headers: Headers): TraceContext | undefined {
  const given = headers["traceparent"];
  const match = typeof given === "string" ? TRACE_PARENT.exec(given) : null;
  if (!match) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest] = match;
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const context: TraceContext = { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
  const state = headers["tracestate"];
  if (typeof state === "string" && state !== "" && state.length <= MAX_STATE) context.state = state;
  return context;
}

/** The value of `traceparent` for a request that a span makes. */
export function traceParent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
}

/** Reads the rollout that the caller works for from the W3C header `baggage`. */
export function readRolloutBaggage(headers: Headers): string | undefined {
  const given = headers["baggage"];
  if (typeof given !== "string") return undefined;
  for (const entry of given.split(",")) {
    const [name, value = ""] = (entry.split(";")[0] ?? "").split("=");
    if (name?.trim() === ROLLOUT_ENTRY && ROLLOUT_ID.test(value.trim())) return value.trim();
  }
  return undefined;
}

/** The headers that continue a trace in another server. */
export function traceHeaders(context: TraceContext, rolloutId?: string): Record<string, string> {
  const headers: Record<string, string> = { traceparent: traceParent(context) };
  if (context.state !== undefined) headers["tracestate"] = context.state;
  if (rolloutId !== undefined && ROLLOUT_ID.test(rolloutId))
    headers["baggage"] = `${ROLLOUT_ENTRY}=${rolloutId}`;
  return headers;
}
