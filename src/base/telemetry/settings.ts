import { randomBytes } from "node:crypto";
import { GymError } from "../errors.ts";
import { isObject } from "../python/json/json-object.ts";
import { suggest } from "../suggest.ts";

/** Kinds of spans that can be switched on and off. */
export const SPAN_GROUPS = [
  "job",
  "server",
  "http_client",
  "rollout",
  "verify",
  "agent",
  "model_call",
  "sandbox",
] as const;
export type SpanGroup = (typeof SPAN_GROUPS)[number];

const PRESETS: Readonly<Record<string, readonly SpanGroup[]>> = {
  default: ["job", "server", "http_client", "rollout"],
  per_rollout: ["server", "http_client", "rollout", "verify", "agent", "model_call"],
  all: SPAN_GROUPS,
};
const PROTOCOLS = ["http/json", "http/protobuf"] as const;
export type OtlpProtocol = (typeof PROTOCOLS)[number];
const EXPORTERS = ["otlp", "console"] as const;

const DEFAULT_ENDPOINT = "http://localhost:4318";
const EXPORT_TIMEOUT_MS = 10_000;
const METRIC_INTERVAL_MS = 10_000;
const SPAN_DELAY_MS = 1_000;

type Environment = Readonly<Record<string, string | undefined>>;

export interface TelemetrySettings {
  serviceName: string;
  /** Whether each server is a service of its own: `nemo-gym/<server>`. */
  servicePerServer: boolean;
  groups: ReadonlySet<SpanGroup>;
  traces: boolean;
  metrics: boolean;
  /** Whether the memory of the processes is measured, and how often. */
  memoryIntervalMs: number | undefined;
  exporter: (typeof EXPORTERS)[number];
  tracesUrl: URL;
  metricsUrl: URL;
  protocol: OtlpProtocol;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  spanDelayMs: number;
  metricIntervalMs: number;
  /** Share of the traces that are recorded. */
  sampled: number;
  /** Whether prompts, answers and error messages are exported. */
  contents: boolean;
  runId: string;
  /** Attributes of everything that this process exports. */
  resource: Readonly<Record<string, string>>;
  /** What the user should know about the settings. */
  warnings: readonly string[];
}

/** Reads the `telemetry` block and the environment, which takes precedence. Undefined if telemetry is off. */
export function telemetrySettings(block: unknown, env: Environment): TelemetrySettings | undefined {
  if (block !== undefined && block !== null && !isObject(block))
    throw invalid("telemetry", block, "a mapping such as {enabled: true}");
  const source = new Source((block ?? {}) as Record<string, unknown>, env);
  if (!source.flag("enabled", source.gym("ENABLED"), false) || readFlag(env["OTEL_SDK_DISABLED"]) === true)
    return undefined;
  const warnings: string[] = [];
  const memory = source.block["memory_profiling"];
  const profiling = new Source(isObject(memory) ? memory : {}, env, "memory_profiling.");
  if (source.flag("logs_enabled", source.gym("LOGS_ENABLED"), false))
    warnings.push(
      "logs_enabled has no effect: logs are not exported. nemo_gym_log_dir writes them to files.",
    );
  const traces = source.flag("traces_enabled", source.gym("TRACES_ENABLED"), true);
  const metrics = source.flag("metrics_enabled", source.gym("METRICS_ENABLED"), true);
  const endpoint = source.text("otlp_endpoint", env["OTEL_EXPORTER_OTLP_ENDPOINT"]) ?? DEFAULT_ENDPOINT;
  return {
    serviceName: source.text("service_name", env["OTEL_SERVICE_NAME"]) ?? "nemo-gym",
    servicePerServer: source.flag("service_name_per_server", undefined, true),
    groups: readGroups(source.value("span_groups", source.gym("SPAN_GROUPS")), warnings),
    traces,
    metrics,
    memoryIntervalMs: profiling.flag("enabled", source.gym("MEMORY_PROFILING_ENABLED"), false)
      ? profiling.number("interval_seconds", source.gym("MEMORY_PROFILING_INTERVAL_SECONDS"), 1) * 1000
      : undefined,
    exporter: source.choice("exporter", EXPORTERS),
    tracesUrl: source.url("traces", endpoint),
    metricsUrl: source.url("metrics", endpoint),
    protocol: readProtocol(
      source.text("otlp_protocol", env["OTEL_EXPORTER_OTLP_PROTOCOL"]),
      endpoint,
      warnings,
    ),
    headers: readHeaders(source.value("otlp_headers", env["OTEL_EXPORTER_OTLP_HEADERS"])),
    timeoutMs: positive(env["OTEL_EXPORTER_OTLP_TIMEOUT"]) ?? EXPORT_TIMEOUT_MS,
    spanDelayMs: positive(env["OTEL_BSP_SCHEDULE_DELAY"]) ?? SPAN_DELAY_MS,
    metricIntervalMs: positive(env["OTEL_METRIC_EXPORT_INTERVAL"]) ?? METRIC_INTERVAL_MS,
    sampled: sampledShare(env, warnings),
    contents:
      readFlag(env["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"]) ??
      source.flag("capture_contents", undefined, false),
    runId:
      source.text("run_id", source.gym("RUN_ID")) ?? env["SLURM_JOB_ID"] ?? randomBytes(6).toString("hex"),
    resource: pairs(env["OTEL_RESOURCE_ATTRIBUTES"] ?? ""),
    warnings,
  };
}

/** Variables for processes that this one starts, so that they belong to the same run. Their own values take precedence. */
export function telemetryVariables(settings: TelemetrySettings | undefined): Record<string, string> {
  return settings === undefined ? {} : { NEMO_GYM_OTEL_RUN_ID: settings.runId };
}

class Source {
  readonly block: Record<string, unknown>;
  readonly #env: Environment;
  readonly #path: string;

  constructor(block: Record<string, unknown>, env: Environment, path = "") {
    this.block = block;
    this.#env = env;
    this.#path = `telemetry.${path}`;
  }

  /** A variable of this project, or the older one with the same meaning. */
  gym(variable: string): string | undefined {
    return this.#env[`NEMO_GYM_OTEL_${variable}`] ?? this.#env[`NEMO_LENS_${variable}`];
  }

  /** The variable if it is set, else the key. All methods take the value of the variable. */
  value(key: string, variable: string | undefined): unknown {
    return variable !== undefined && variable !== "" ? variable : (this.block[key] ?? undefined);
  }

  flag(key: string, variable: string | undefined, preset: boolean): boolean {
    const value = this.value(key, variable);
    const read = readFlag(value);
    if (read !== undefined) return read;
    // A variable means false unless it says true.
    if (variable) return false;
    if (value === undefined) return preset;
    throw invalid(this.#path + key, value, "true or false");
  }

  text(key: string, variable: string | undefined): string | undefined {
    const value = this.value(key, variable);
    if (value === undefined || typeof value === "string") return value;
    if (typeof value === "number") return String(value);
    throw invalid(this.#path + key, value, "a text");
  }

  number(key: string, variable: string | undefined, preset: number): number {
    const value = this.value(key, variable);
    if (value === undefined) return preset;
    const read = Number(value);
    if (read > 0 && Number.isFinite(read)) return read;
    throw invalid(this.#path + key, value, "a number above 0");
  }

  choice(key: "exporter", choices: typeof EXPORTERS): (typeof EXPORTERS)[number] {
    const value = this.value(key, this.gym("EXPORTER")) ?? choices[0];
    const known = choices.find((choice) => choice === value);
    if (known !== undefined) return known;
    throw invalid(this.#path + key, value, choices.join(" or "));
  }

  url(signal: "traces" | "metrics", base: string): URL {
    const own = this.#env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`];
    const text = own ?? `${base.replace(/\/+$/, "")}/v1/${signal}`;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url?.protocol === "http:" || url?.protocol === "https:") return url;
    throw invalid(`${this.#path}otlp_endpoint`, own ?? base, "a URL such as http://localhost:4318");
  }
}

function invalid(key: string, value: unknown, expected: string): GymError {
  return new GymError("TELEMETRY_SETTINGS", `${key} is ${JSON.stringify(value)}; it must be ${expected}.`);
}

function readFlag(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const word = String(value).trim().toLowerCase();
  if (["1", "true", "yes", "on"].includes(word)) return true;
  return ["0", "false", "no", "off"].includes(word) ? false : undefined;
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return value > 0 && Number.isFinite(value) ? value : undefined;
}

function readGroups(given: unknown, warnings: string[]): ReadonlySet<SpanGroup> {
  const words = (Array.isArray(given) ? given : String(given ?? "default").split(","))
    .map((word) => String(word).trim())
    .filter((word) => word !== "");
  const groups = new Set<SpanGroup>();
  for (const word of words) {
    const known = Object.hasOwn(PRESETS, word)
      ? PRESETS[word]
      : SPAN_GROUPS.filter((group) => group === word);
    for (const group of known ?? []) groups.add(group);
    if (known?.length) continue;
    const names = [...Object.keys(PRESETS), ...SPAN_GROUPS];
    const nearest = suggest(word, names);
    const hint = nearest ? `Did you mean '${nearest}'?` : `The groups are ${names.join(", ")}.`;
    warnings.push(`there is no span group '${word}'. ${hint}`);
  }
  return groups;
}

function readProtocol(protocol: string | undefined, endpoint: string, warnings: string[]): OtlpProtocol {
  const given = protocol ?? PROTOCOLS[0];
  const known = PROTOCOLS.find((protocol) => protocol === given);
  if (known === undefined && given !== "grpc")
    throw invalid("telemetry.otlp_protocol", given, PROTOCOLS.join(" or "));
  const isGrpcPort = URL.canParse(endpoint) && new URL(endpoint).port === "4317";
  if (known === undefined || isGrpcPort)
    warnings.push(
      `OTLP is sent over HTTP (${known ?? PROTOCOLS[0]}) to ${endpoint}, because gRPC is not supported. Collectors usually accept HTTP on port 4318.`,
    );
  return known ?? PROTOCOLS[0];
}

function readHeaders(given: unknown): Record<string, string> {
  if (given === undefined) return {};
  if (typeof given === "string") return lowerNames(pairs(given));
  if (isObject(given)) return lowerNames(given);
  throw invalid("telemetry.otlp_headers", "****", "a mapping, or a text such as api-key=x,tenant=y");
}

function lowerNames(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
}

/** `a=1,b=2`, with percent-encoded values. */
function pairs(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const part of text.split(",")) {
    const equals = part.indexOf("=");
    if (equals > 0) found[part.slice(0, equals).trim()] = decoded(part.slice(equals + 1).trim());
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The samplers of the specification that need no other service. */
function sampledShare(env: Environment, warnings: string[]): number {
  const { OTEL_TRACES_SAMPLER: sampler = "always_on", OTEL_TRACES_SAMPLER_ARG: share = "1" } = env;
  const name = sampler.replace(/^parentbased_/, "");
  if (name === "always_on") return 1;
  if (name === "always_off") return 0;
  const ratio = Number(share);
  if (name === "traceidratio" && ratio >= 0 && ratio <= 1) return ratio;
  warnings.push(`OTEL_TRACES_SAMPLER=${sampler} (${share}) is not supported: all traces are recorded.`);
  return 1;
}
