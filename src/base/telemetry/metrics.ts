import type { Attributes, AttributeValue } from "./span.ts";

const MILLISECONDS = [
  5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000, 1_800_000,
];
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800];
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576];

interface Instrument {
  /** `change` adds to a sum that may fall. */
  kind: "count" | "change" | "gauge" | "histogram";
  unit: string;
  description: string;
  bounds?: readonly number[];
}

/** Every metric. docs/guide/observability.md lists them. */
export const INSTRUMENTS = {
  "gym.rollout.duration_ms": {
    kind: "histogram",
    unit: "ms",
    description: "Duration of rollouts",
    bounds: MILLISECONDS,
  },
  "gym.rollout.completed_total": {
    kind: "count",
    unit: "{rollout}",
    description: "Rollouts that ended, by outcome",
  },
  "gym.rollout.active": { kind: "change", unit: "{rollout}", description: "Rollouts in flight" },
  "gym.verify.duration_ms": {
    kind: "histogram",
    unit: "ms",
    description: "Duration of verifications",
    bounds: MILLISECONDS,
  },
  "gym.verify.success_rate": {
    kind: "gauge",
    unit: "1",
    description: "Share of verifications that gave a verdict",
  },
  "gym.servers.active": { kind: "gauge", unit: "{server}", description: "Running servers" },
  "http.server.request.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of requests",
    bounds: SECONDS,
  },
  "gen_ai.client.operation.duration": {
    kind: "histogram",
    unit: "s",
    description: "Duration of model calls",
    bounds: SECONDS,
  },
  "gen_ai.client.token.usage": {
    kind: "histogram",
    unit: "{token}",
    description: "Tokens of a model call",
    bounds: TOKENS,
  },
  "gym.model.active": { kind: "change", unit: "{call}", description: "Model calls in flight" },
  "gym.sandbox.active": { kind: "change", unit: "{sandbox}", description: "Running sandboxes" },
  "gym.sandbox.startup_duration_ms": {
    kind: "histogram",
    unit: "ms",
    description: "Time to start a sandbox",
    bounds: MILLISECONDS,
  },
  "gym.sandbox.exec_duration_ms": {
    kind: "histogram",
    unit: "ms",
    description: "Duration of commands in sandboxes",
    bounds: MILLISECONDS,
  },
  "gym.server.memory.usage": { kind: "gauge", unit: "By", description: "Resident memory of the process" },
  "gym.server.memory.sampled_peak": {
    kind: "gauge",
    unit: "By",
    description: "Largest resident memory that was measured",
  },
  "gym.host.memory.usage": { kind: "gauge", unit: "By", description: "Memory in use on the machine" },
  "gym.host.memory.available": { kind: "gauge", unit: "By", description: "Memory available on the machine" },
  "gym.host.memory.total": { kind: "gauge", unit: "By", description: "Memory of the machine" },
  "gym.host.memory.sampled_peak": {
    kind: "gauge",
    unit: "By",
    description: "Largest memory in use that was measured",
  },
} as const satisfies Readonly<Record<string, Instrument>>;

export type MetricName = keyof typeof INSTRUMENTS;

/** Attribute sets of one metric; further ones are counted together, so that names from outside use no memory. */
const MAX_POINTS = 1_000;
const OVERFLOW = "otel.metric.overflow";

/** The current state of a metric for one set of attributes. */
export interface Point {
  attributes: Record<string, AttributeValue | undefined>;
  value: number;
  count: number;
  /** Of a histogram: values by bucket. */
  buckets: number[];
  min: number;
  max: number;
}

/** The metrics of one service since its start. */
export class Meter {
  readonly metrics = new Map<MetricName, Map<string, Point>>();

  /** Adds a value to a count or a histogram, or sets a gauge. */
  record(name: MetricName, value: number, attributes: Attributes = {}): void {
    const { kind, bounds }: Instrument = INSTRUMENTS[name];
    const point = this.#point(name, attributes, bounds);
    point.count++;
    point.value = kind === "gauge" ? value : point.value + value;
    if (bounds === undefined) return;
    const place = bounds.findIndex((bound) => value <= bound);
    const index = place < 0 ? bounds.length : place;
    point.buckets[index] = (point.buckets[index] ?? 0) + 1;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
  }

  #point(name: MetricName, attributes: Attributes, bounds: readonly number[] | undefined): Point {
    let points = this.metrics.get(name);
    if (!points) {
      points = new Map();
      this.metrics.set(name, points);
    }
    let key = JSON.stringify(attributes);
    let own: Attributes = attributes;
    if (points.size >= MAX_POINTS && !points.has(key)) {
      own = { [OVERFLOW]: true };
      key = OVERFLOW;
    }
    let point = points.get(key);
    if (!point) {
      const buckets = new Array<number>(bounds ? bounds.length + 1 : 0).fill(0);
      point = {
        attributes: { ...own },
        value: 0,
        count: 0,
        buckets,
        min: Number.POSITIVE_INFINITY,
        max: Number.NEGATIVE_INFINITY,
      };
      points.set(key, point);
    }
    return point;
  }
}
