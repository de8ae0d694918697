import { AsyncLocalStorage } from "node:async_hooks";
import { randomFillSync } from "node:crypto";
import { processWide } from "../process-wide.ts";
import type { SpanGroup } from "./settings.ts";
import { type TraceContext, traceHeaders } from "./trace-context.ts";
import type { Tracer } from "./tracer.ts";

export type AttributeValue = string | number | boolean | readonly string[];
/** Undefined values are left out. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/** The kinds of spans, with their numbers in OTLP. */
export const SPAN_KINDS = { internal: 1, server: 2, client: 3, producer: 4 } as const;
export type SpanKind = keyof typeof SPAN_KINDS;

/** Attributes with prompts, answers and arguments. They are set only if contents are exported. */
export const CONTENT_ATTRIBUTES: ReadonlySet<string> = new Set([
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
]);
export const MAX_CONTENT = 64 * 1024;

export interface SpanOptions {
  kind?: SpanKind;
  attributes?: Attributes;
  /** The rollout that the work belongs to; default: that of the parent. */
  rolloutId?: string;
  /** A related span of another trace. */
  link?: TraceContext;
}

/** One piece of work in a trace. Use `traced` where the work is one function. */
export class Span {
  readonly tracer: Tracer;
  readonly name: string;
  readonly kind: SpanKind;
  /** The parent of spans below. Undefined at the top of a trace whose span is not recorded. */
  readonly context: TraceContext | undefined;
  readonly parentId: string | undefined;
  readonly rolloutId: string | undefined;
  readonly link: TraceContext | undefined;
  /** Whether the span is exported. A span that is not only passes on the context of its parent. */
  readonly isRecorded: boolean;
  /** Milliseconds since 1970, with fractions. */
  readonly startedAt: number;
  endedAt = 0;
  attributes: Record<string, AttributeValue | undefined>;
  /** Characters of contents. */
  contentLength = 0;
  errorType: string | undefined;
  errorMessage: string | undefined;

  constructor(
    tracer: Tracer,
    name: string,
    isRecorded: boolean,
    parent: TraceContext | undefined,
    options: SpanOptions,
  ) {
    this.tracer = tracer;
    this.name = name;
    this.kind = options.kind ?? "internal";
    this.isRecorded = isRecorded;
    this.rolloutId = options.rolloutId;
    this.link = options.link;
    this.parentId = parent?.spanId;
    this.context = isRecorded
      ? { ...parent, traceId: parent?.traceId ?? randomHex(16), spanId: randomHex(8), sampled: true }
      : parent;
    this.attributes = { ...options.attributes };
    this.startedAt = unixMilliseconds();
  }

  /** Starts a span below this one. */
  child(group: SpanGroup, name: string, options: SpanOptions = {}): Span {
    return this.tracer.start(group, name, this.context, { rolloutId: this.rolloutId, ...options });
  }

  set(attributes: Attributes): void {
    if (this.isRecorded) Object.assign(this.attributes, attributes);
  }

  /** Adds prompts, answers or arguments, if contents are exported. */
  setContent(contents: () => Readonly<Record<string, unknown>>): void {
    if (!this.isRecorded || !this.tracer.contents) return;
    for (const [name, value] of Object.entries(contents())) {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      if (text === undefined) continue;
      this.attributes[name] = text.slice(0, MAX_CONTENT);
      this.contentLength += Math.min(text.length, MAX_CONTENT);
    }
  }

  /** Marks the work as failed. The message is exported only if contents are. */
  fail(type: string, message?: string): void {
    this.errorType ??= type;
    this.errorMessage ??= message;
  }

  end(): void {
    if (this.endedAt !== 0) return;
    this.endedAt = Math.max(this.startedAt, unixMilliseconds());
    if (this.isRecorded) this.tracer.ended(this);
  }

  get milliseconds(): number {
    return (this.endedAt || unixMilliseconds()) - this.startedAt;
  }

  /** The headers that continue the trace in a request. */
  get headers(): Record<string, string> {
    return this.context === undefined ? {} : traceHeaders(this.context, this.rolloutId);
  }
}

/** One for all copies of the package in a process. Nothing is stored in it while telemetry is off. */
const storage = processWide("telemetry-span", () => new AsyncLocalStorage<Span>());

/** The span that the running code belongs to; undefined while telemetry is off. */
export function currentSpan(): Span | undefined {
  return storage.getStore();
}

/** Runs code as part of a span. */
export function inSpan<T>(span: Span, work: () => T): T {
  return storage.run(span, work);
}

/**
 * Runs work in a span of its own below the current one, or without a span while telemetry is off.
 *
 * @example
 * await traced("verify", "gym.judge", () => ask(), { attributes: { "nemo.gym.judge.server": "judge" } });
 */
export function traced<T>(
  group: SpanGroup,
  name: string,
  work: (span: Span | undefined) => Promise<T>,
  options: SpanOptions = {},
): Promise<T> {
  const parent = currentSpan();
  return parent === undefined ? work(undefined) : ending(parent.child(group, name, options), work);
}

/** Runs work in a span, and ends the span with it. */
export async function ending<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await inSpan(span, () => work(span));
  } catch (error) {
    span.fail(errorType(error), String((error as Error | null)?.message ?? error));
    throw error;
  } finally {
    span.end();
  }
}

/** A word for an error that has few different values: a failure class, a code or the name of the class. */
export function errorType(error: unknown): string {
  const { info, failure, code, name } = (error ?? {}) as {
    info?: { class?: unknown };
    failure?: { class?: unknown };
    code?: unknown;
    name?: unknown;
  };
  const type = info?.class ?? failure?.class ?? code ?? name;
  return typeof type === "string" ? type : "Error";
}

const POOL_BYTES = 8_192;
const pool = Buffer.allocUnsafe(POOL_BYTES);
let used = POOL_BYTES;

/** Random bytes in hexadecimal digits. They are drawn in bulk, because each call costs a microsecond. */
export function randomHex(bytes: number): string {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString("hex", used - bytes, used);
}

const MAX_DRIFT_MS = 50;
let origin = performance.timeOrigin;

/** The time of day with the resolution of the monotonic clock, corrected when the two drift apart. */
function unixMilliseconds(): number {
  const now = performance.now();
  const drift = Date.now() - (origin + now);
  if (Math.abs(drift) > MAX_DRIFT_MS) origin += drift;
  return origin + now;
}
