import { describe, expect, it } from "vitest";
import { telemetrySettings } from "./settings.ts";

const read = (block: unknown, env: Record<string, string> = {}) =>
  telemetrySettings({ enabled: true, ...(block as object) }, env);

describe("the settings of telemetry", () => {
  it("are absent unless it is enabled", () => {
    for (const block of [undefined, null, {}, { enabled: false, span_groups: "all" }])
      expect(telemetrySettings(block, {})).toBeUndefined();
    expect(telemetrySettings({ enabled: true }, { NEMO_GYM_OTEL_ENABLED: "0" })).toBeUndefined();
    expect(telemetrySettings({ enabled: true }, { OTEL_SDK_DISABLED: "true" })).toBeUndefined();
    expect(telemetrySettings({}, { NEMO_LENS_ENABLED: "yes" })).toBeDefined();
    expect(telemetrySettings({}, { NEMO_LENS_ENABLED: "yes", NEMO_GYM_OTEL_ENABLED: "no" })).toBeUndefined();
  });

  it("have the defaults of the reference", () => {
    const settings = read({}, { SLURM_JOB_ID: "77" });
    expect([...(settings?.groups ?? [])]).toEqual(["job", "server", "http_client", "rollout"]);
    expect(settings).toMatchObject({
      ...{ serviceName: "nemo-gym", servicePerServer: true, traces: true, metrics: true, contents: false },
      ...{ exporter: "otlp", runId: "77", sampled: 1, warnings: [], memoryIntervalMs: undefined },
    });
    expect(settings?.tracesUrl.href).toBe("http://localhost:4318/v1/traces");
    expect(read({})?.runId).toMatch(/^[0-9a-f]{12}$/);
  });

  it("give variables precedence over the block", () => {
    const settings = read(
      { service_name: "a", otlp_endpoint: "http://a:1", otlp_headers: { "X-Key": "a" }, run_id: "a" },
      {
        OTEL_SERVICE_NAME: "b",
        OTEL_EXPORTER_OTLP_ENDPOINT: "https://b/otlp/",
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://m:2/x",
        OTEL_EXPORTER_OTLP_HEADERS: "api-key=b%20c, x=1",
        OTEL_RESOURCE_ATTRIBUTES: "team=t",
        NEMO_GYM_OTEL_RUN_ID: "b",
      },
    );
    expect(settings).toMatchObject({ serviceName: "b", runId: "b", resource: { team: "t" } });
    expect(settings?.headers).toEqual({ "api-key": "b c", x: "1" });
    expect([settings?.tracesUrl.href, settings?.metricsUrl.href]).toEqual([
      "https://b/otlp/v1/traces",
      "http://m:2/x",
    ]);
    expect(read({ otlp_headers: { "X-Key": "a" } })?.headers).toEqual({ "x-key": "a" });
  });

  it("join presets and names of span groups, and warn about others", () => {
    const settings = read({ span_groups: "per_rollout,sandbox,verfy" });
    expect([...(settings?.groups ?? [])]).toEqual([
      ...["server", "http_client", "rollout", "verify", "agent", "model_call", "sandbox"],
    ]);
    expect(settings?.warnings).toEqual(["there is no span group 'verfy'. Did you mean 'verify'?"]);
    expect([...(read({ span_groups: ["verify"] })?.groups ?? [])]).toEqual(["verify"]);
  });

  it("say that gRPC is not supported", () => {
    for (const block of [{ otlp_protocol: "grpc" }, { otlp_endpoint: "http://collector:4317" }]) {
      const settings = read(block);
      expect(settings?.protocol).toBe("http/json");
      expect(settings?.warnings.join()).toContain("gRPC is not supported");
    }
  });

  it("name the key of a bad value", () => {
    const bad: [unknown, string][] = [
      [{ enabled: "maybe" }, 'telemetry.enabled is "maybe"; it must be true or false.'],
      [{ exporter: "file" }, 'telemetry.exporter is "file"; it must be otlp or console.'],
      [{ otlp_endpoint: "localhost:4318" }, "telemetry.otlp_endpoint"],
      [{ otlp_protocol: "thrift" }, "telemetry.otlp_protocol"],
      [{ otlp_headers: 3 }, 'telemetry.otlp_headers is "****"'],
      [
        { memory_profiling: { enabled: true, interval_seconds: 0 } },
        "telemetry.memory_profiling.interval_seconds",
      ],
    ];
    for (const [block, message] of bad) expect(() => read(block)).toThrow(message);
    expect(() => telemetrySettings(true, {})).toThrow("telemetry is true");
  });

  it("read the share of sampled traces", () => {
    const sampler = (name: string, share?: string) =>
      read({}, { OTEL_TRACES_SAMPLER: name, ...(share && { OTEL_TRACES_SAMPLER_ARG: share }) })?.sampled;
    expect(sampler("parentbased_traceidratio", "0.25")).toBe(0.25);
    expect([sampler("always_off"), sampler("parentbased_always_on"), sampler("xray")]).toEqual([0, 1, 1]);
  });
});
