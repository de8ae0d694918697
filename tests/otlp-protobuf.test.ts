import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { Telemetry } from "../src/base/telemetry/door.ts";
import { inSpan, traced } from "../src/base/telemetry/light-door.ts";
import { OtlpReceiver } from "./support/otlp-receiver.ts";

/** Parses messages with the classes that the OpenTelemetry project generates from its definitions. */
const PARSER = `
import json, sys
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
result = []
for item in json.load(sys.stdin):
    message = (ExportTraceServiceRequest if item["signal"] == "traces" else ExportMetricsServiceRequest)()
    message.ParseFromString(bytes.fromhex(item["hex"]))
    result.append(MessageToDict(message))
print(json.dumps(result))
`;

const python = process.env["NEMO_GYM_TEST_PYTHON"] ?? "python3";
const hasProto = spawnSync(python, ["-c", "import opentelemetry.proto.trace.v1"]).status === 0;

describe.skipIf(!hasProto && process.env["CI"] !== "true")("OTLP in binary form", () => {
  it("is read by the official classes", async () => {
    const receiver = await new OtlpReceiver().start();
    const block = {
      ...{ enabled: true, otlp_endpoint: receiver.url, otlp_protocol: "http/protobuf" },
      ...{ span_groups: "all", run_id: "r1" },
    };
    const telemetry = Telemetry.open({ block, env: {}, version: "1.2.3" });
    if (!telemetry) throw new Error("telemetry is off");
    const root = telemetry.tracer.start("rollout", "gym.rollout", undefined, {
      rolloutId: "3-0",
      attributes: { text: "ä\ud800", whole: -7, part: 0.5, yes: false, list: ["a", ""], none: undefined },
    });
    await inSpan(root, async () =>
      expect(
        traced("verify", "gym.verify", async () => Promise.reject(new TypeError("no")), { kind: "client" }),
      ).rejects.toThrow("no"),
    );
    root.end();
    telemetry.tracer.record("gym.rollout.duration_ms", 12, { outcome: "completed" });
    telemetry.tracer.record("gym.rollout.completed_total", 1);
    telemetry.tracer.record("gym.verify.success_rate", 0);
    await telemetry.close();
    await receiver.close();

    const bodies = receiver.bodies.sort((left, right) => (left.signal > right.signal ? -1 : 1));
    const input = bodies.map(({ signal, type, body }) => {
      expect(type).toBe("application/x-protobuf");
      return { signal, hex: body.toString("hex") };
    });
    const parsed = spawnSync(python, ["-c", PARSER], { input: JSON.stringify(input), encoding: "utf8" });
    expect(parsed.stderr).toBe("");
    const [traces, metrics] = JSON.parse(parsed.stdout) as [Traces, Metrics];
    const [{ resource, scopeSpans }] = traces.resourceSpans;
    expect(resource.attributes).toContainEqual({ key: "nemo.run.id", value: { stringValue: "r1" } });
    const [verify, rollout] = scopeSpans[0].spans;
    const hex = (base64: string) => Buffer.from(base64, "base64").toString("hex");
    expect(hex(String(rollout["traceId"]))).toBe(root.context?.traceId);
    expect(verify["parentSpanId"]).toBe(rollout["spanId"]);
    expect(rollout).toMatchObject({ name: "gym.rollout", kind: "SPAN_KIND_INTERNAL", flags: 1 });
    expect(rollout["attributes"]).toEqual([
      { key: "nemo.gym.rollout.id", value: { stringValue: "3-0" } },
      { key: "text", value: { stringValue: "ä\ufffd" } },
      { key: "whole", value: { intValue: "-7" } },
      { key: "part", value: { doubleValue: 0.5 } },
      { key: "yes", value: { boolValue: false } },
      { key: "list", value: { arrayValue: { values: [{ stringValue: "a" }, { stringValue: "" }] } } },
    ]);
    expect(verify).toMatchObject({ kind: "SPAN_KIND_CLIENT", status: { code: "STATUS_CODE_ERROR" } });
    expect(BigInt(String(rollout["endTimeUnixNano"])) >= BigInt(String(verify["endTimeUnixNano"]))).toBe(
      true,
    );
    const points = metrics.resourceMetrics[0].scopeMetrics[0].metrics;
    expect(points.map(({ name }) => name)).toEqual([
      "gym.rollout.duration_ms",
      "gym.rollout.completed_total",
      "gym.verify.success_rate",
    ]);
    expect(points[0]).toMatchObject({
      unit: "ms",
      histogram: { dataPoints: [{ count: "1", sum: 12, min: 12, max: 12 }] },
    });
    expect(points[1]).toMatchObject({
      sum: {
        dataPoints: [{ asDouble: 1 }],
        isMonotonic: true,
        aggregationTemporality: "AGGREGATION_TEMPORALITY_CUMULATIVE",
      },
    });
    expect(points[2]).toMatchObject({ gauge: { dataPoints: [{ asDouble: 0 }] } });
  });
});

type Plain = Record<string, unknown>;
interface Traces {
  resourceSpans: [{ resource: { attributes: unknown[] }; scopeSpans: [{ spans: [Plain, Plain] }] }];
}
interface Metrics {
  resourceMetrics: [{ scopeMetrics: [{ metrics: (Plain & { name: string })[] }] }];
}
