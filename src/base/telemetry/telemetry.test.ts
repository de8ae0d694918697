import { describe, expect, it } from "vitest";
import { currentSpan, ending, inSpan, traced } from "./light-door.ts";
import { MAX_CONTENT } from "./span.ts";
import { Telemetry } from "./telemetry.ts";
import { readRolloutBaggage, readTraceContext, traceHeaders } from "./trace-context.ts";

const ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

/** Telemetry whose spans are written as lines. */
function open(block: object = {}, env: Record<string, string> = {}) {
  const lines: string[] = [];
  const telemetry = Telemetry.open({
    block: { enabled: true, exporter: "console", span_groups: "all", ...block },
    env,
    version: "1",
    write: (line) => lines.push(line),
  });
  if (!telemetry) throw new Error("telemetry is off");
  const spans = async () => {
    await telemetry.close();
    return lines
      .map((line) => JSON.parse(line) as { resourceSpans?: { scopeSpans: { spans: Span[] }[] }[] })
      .flatMap(({ resourceSpans = [] }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans))
      .flatMap(({ spans }) => spans);
  };
  return { telemetry, lines, spans };
}
interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: { stringValue?: string } }[];
  status?: unknown;
}

describe("the headers of a trace", () => {
  it("are read as the recommendation of the W3C says", () => {
    const of = (traceparent: string) => readTraceContext({ traceparent });
    expect(of(`00-${ID}-${SPAN}-01`)).toEqual({ traceId: ID, spanId: SPAN, sampled: true });
    expect(of(`00-${ID}-${SPAN}-00`)?.sampled).toBe(false);
    expect(of(`01-${ID}-${SPAN}-01-more`)?.traceId).toBe(ID);
    for (const bad of [
      "",
      "x",
      `ff-${ID}-${SPAN}-01`,
      `00-${ID}-${SPAN}-01-more`,
      `00-${"0".repeat(32)}-${SPAN}-01`,
    ])
      expect(of(bad)).toBeUndefined();
    expect(readTraceContext({})).toBeUndefined();
    const state = "vendor=1";
    expect(readTraceContext({ traceparent: `00-${ID}-${SPAN}-01`, tracestate: state })?.state).toBe(state);
  });

  it("carry the rollout", () => {
    const headers = traceHeaders({ traceId: ID, spanId: SPAN, sampled: true }, "3-1-a1");
    expect(headers).toEqual({ traceparent: `00-${ID}-${SPAN}-01`, baggage: "nemo.gym.rollout.id=3-1-a1" });
    expect(readRolloutBaggage({ baggage: `a=b;c, ${headers["baggage"]}` })).toBe("3-1-a1");
    expect(readRolloutBaggage({ baggage: "nemo.gym.rollout.id=<script>" })).toBeUndefined();
  });
});

describe("spans", () => {
  it("do not exist while telemetry is off", async () => {
    expect(await traced("agent", "x", async (span) => [span, currentSpan()])).toEqual([undefined, undefined]);
  });

  it("of a group that is off pass on their parent", async () => {
    const { telemetry, spans } = open({ span_groups: "rollout,verify" });
    const root = telemetry.tracer.start("rollout", "root");
    await ending(root, () => traced("agent", "between", () => traced("verify", "leaf", async () => {})));
    const [leaf, top] = await spans();
    expect([leaf?.name, leaf?.parentSpanId, leaf?.traceId]).toEqual(["leaf", top?.spanId, top?.traceId]);
  });

  it("follow the decision of their caller about sampling", async () => {
    const { telemetry, spans } = open({}, { OTEL_TRACES_SAMPLER: "always_off" });
    const own = telemetry.tracer.start("rollout", "own");
    expect(own.headers["traceparent"]).toMatch(/-00$/);
    const parent = { traceId: ID, spanId: SPAN, sampled: true };
    telemetry.tracer.start("rollout", "called", parent).end();
    inSpan(own, () => currentSpan()?.child("verify", "below").end());
    own.end();
    expect((await spans()).map(({ name }) => name)).toEqual(["called"]);
  });

  it("hold no contents unless asked, and no more than the limit", async () => {
    const contents = { "gen_ai.input.messages": "q".repeat(MAX_CONTENT + 5) };
    const exported = async (block: object) => {
      const { telemetry, spans } = open(block);
      const span = telemetry.tracer.start("verify", "x");
      span.setContent(() => contents);
      span.fail("TypeError", "a message");
      span.end();
      return (await spans())[0];
    };
    const silent = await exported({});
    expect([silent?.attributes, silent?.status]).toEqual([
      [{ key: "error.type", value: { stringValue: "TypeError" } }],
      { code: 2 },
    ]);
    const open_ = await exported({ capture_contents: true });
    expect(open_?.attributes[0]?.value.stringValue).toHaveLength(MAX_CONTENT);
    expect(open_?.status).toEqual({ code: 2, message: "a message" });
  });

  it("beyond the limit are dropped and counted", async () => {
    const notices: string[] = [];
    const telemetry = Telemetry.open({
      block: { enabled: true, otlp_endpoint: "http://127.0.0.1:1" },
      env: {},
      version: "1",
      onNotice: (text) => notices.push(text),
    });
    for (let count = 0; count < 20_000; count++) telemetry?.tracer.start("rollout", "x").end();
    await telemetry?.close();
    expect(notices.at(-1)).toBe("Telemetry: 20000 spans were dropped.");
  });
});

describe("metrics", () => {
  it("count attribute sets beyond the limit together", async () => {
    const { telemetry, lines } = open();
    for (let count = 0; count < 1_200; count++)
      telemetry.tracer.record("gym.rollout.completed_total", 1, { "error.type": `e${count}` });
    await telemetry.close();
    expect(lines.join("")).toContain('"otel.metric.overflow"');
    expect(lines.join("")).toContain('"asDouble":200');
  });
});
