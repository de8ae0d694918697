import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MlflowTrackingServer } from "../../../tests/support/mlflow-tracking-server.ts";
import { flattened, MlflowExporter, mlflowName } from "./mlflow.ts";
import { RunExporters } from "./run-exporters.ts";

const token = "ml-verysecret";
const retries = { attempts: 2, baseDelayMs: 1, maxDelayMs: 2 };
let server: MlflowTrackingServer;
let warnings: string[];

beforeEach(async () => {
  warnings = [];
  server = await new MlflowTrackingServer({ token }).start();
});
afterEach(() => server.close());

function exporter(config: Record<string, unknown> = {}) {
  return new MlflowExporter({
    trackingUri: `${server.url}/`,
    experimentName: "gym",
    runName: "first",
    token,
    config,
    startedAt: new Date("2026-01-31T12:00:00Z"),
    onWarning: (text) => warnings.push(text),
    retries,
  });
}

async function* rows(...texts: string[]) {
  yield* texts;
}

describe("MlflowExporter", () => {
  it("logs config, metrics, tags and rollouts, and finishes the run", async () => {
    const config = { agent: { list: [{ c: 1 }, null], key: "****", flag: true }, empty: {} };
    const exporters = new RunExporters([exporter(config)], { onWarning: (text) => warnings.push(text) });
    await exporters.metrics({ "a/pass@1": 0.5, "a/ok": true, "a/note": "fine", "a/none": null, "///": 1 });
    await exporters.rollouts(() => rows('{"reward":1}', '{"reward":0}'));
    const places = await exporters.close();
    expect(places).toEqual([{ exporter: "MLflow", place: `${server.url}/#/experiments/1/runs/run1` }]);
    const run = server.runs.get("run1");
    expect(run).toMatchObject({ experiment: "1", name: "first", status: "FINISHED" });
    expect(Object.fromEntries(run?.params ?? [])).toEqual({
      "agent.list_0_.c": "1",
      "agent.list_1_": "None",
      "agent.key": "****",
      "agent.flag": "True",
      empty: "{}",
    });
    expect(run?.metrics.map(({ key, value, step }) => [key, value, step])).toEqual([
      ["a/pass_at_1", 0.5, 0],
      ["a/ok", 1, 0],
    ]);
    expect(run?.tags.get("a/note")).toBe("fine");
    expect(JSON.parse(run?.artifacts.get("global_config.json") ?? "")).toEqual(config);
    expect(JSON.parse(run?.artifacts.get("rollouts.json") ?? "")).toEqual({
      columns: ["Rollout"],
      data: [['{"reward":1}'], ['{"reward":0}']],
    });
    expect(warnings).toEqual(["MLflow: '///' is not a valid name for MLflow: left out."]);
  });

  it("uses an existing experiment and respects the batch sizes", async () => {
    server.experiments.set("gym", "42");
    const config = Object.fromEntries(
      Array.from({ length: 250 }, (_, index) => [`k${index}`, "v".repeat(7000)]),
    );
    const one = exporter(config);
    const signal = new AbortController().signal;
    await one.open(signal);
    await one.logMetrics(
      Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`m${index}`, index])),
      signal,
    );
    const run = server.runs.get("run1");
    expect(run?.experiment).toBe("42");
    expect(run?.batches).toEqual([100, 100, 50, 1000, 500]);
    expect(run?.params.get("k0")).toHaveLength(6000);
  });

  it("warns if the service rejects or fails, and never shows the token", async () => {
    server.fail({ match: /runs\/log-batch/, status: 500, body: { message: `boom ${token}` }, times: 9 });
    const exporters = new RunExporters([exporter()], { onWarning: (text) => warnings.push(text) });
    await exporters.metrics({ m: 1 });
    await exporters.close();
    expect(warnings).toEqual([
      expect.stringMatching(
        /^MLflow: 500 from 127\.0\.0\.1:\d+: boom \*\*\*\*\. The results of the run are not/,
      ),
    ]);
    await server.close();
    warnings = [];
    const absent = new RunExporters([exporter()], { onWarning: (text) => warnings.push(text) });
    await absent.metrics({ m: 1 });
    expect(warnings).toEqual([expect.stringContaining("cannot be reached")]);
  });
});

describe("mlflowName", () => {
  it("converts names to valid names", () => {
    expect(mlflowName("pass@1[avg-of-4]/acc")).toBe("pass_at_1_avg-of-4_/acc");
    expect(mlflowName("//a//b/../c/.")).toBe("a/b/__/c/_");
    expect(mlflowName("..hidden/.x")).toBe("__hidden/.x");
    expect(mlflowName("größe: 1")).toBe("größe: 1");
    expect(mlflowName("///")).toBeUndefined();
    const long = mlflowName("a".repeat(200) + "b".repeat(200)) ?? "";
    expect(long).toHaveLength(250);
    expect(long).toBe(`${"a".repeat(124)}___${"b".repeat(123)}`);
  });
});

describe("flattened", () => {
  it("returns the path of each leaf", () => {
    expect([...flattened({ a: { b: [{ c: 1 }, []] }, d: null })]).toEqual([
      ["a.b[0].c", 1],
      ["a.b[1]", []],
      ["d", null],
    ]);
  });
});
