import { describe, expect, it } from "vitest";
import { type MeasuredScale, measuredScale, planScale } from "./plan.ts";
import type { ResourceFigures, RunResources } from "./resources.ts";

const figures = (given: Partial<ResourceFigures>): ResourceFigures => ({
  seconds: 10,
  cpu_seconds: 2,
  idle_memory_mb: 100,
  peak_memory_mb: 200,
  processes: 1,
  sandboxes: 0,
  sandbox_memory_mb: 0,
  rollouts: 1_000,
  rollout_seconds: 1,
  mean_in_flight: 100,
  peak_in_flight: 100,
  ...given,
});
const resources = (given: Partial<RunResources>): RunResources => ({
  schema_version: 1,
  cores: 2,
  servers: "own",
  run: figures({}),
  workers: {},
  ...given,
});

const measured: MeasuredScale = {
  rollouts: 1_000,
  peak_in_flight: 1_000,
  rollout_seconds: 10,
  cpu_ms_per_rollout: 5,
  idle_memory_mb: 100,
  memory_kb_in_flight: 102.4,
  sandboxes_in_flight: 0.5,
  collector_cpu_ms_per_rollout: null,
};

describe("measuredScale", () => {
  it("reads time, CPU and memory of a rollout from a run on one machine", () => {
    expect(measuredScale([resources({})])).toEqual({
      rollouts: 1_000,
      peak_in_flight: 100,
      rollout_seconds: 1,
      cpu_ms_per_rollout: 2,
      idle_memory_mb: 100,
      memory_kb_in_flight: 1024,
      sandboxes_in_flight: 0,
      collector_cpu_ms_per_rollout: null,
    });
  });

  it("uses workers for the rollouts and the collector for its own CPU", () => {
    const workers = {
      a: figures({ rollouts: 600, cpu_seconds: 6, sandboxes: 10 }),
      b: figures({ rollouts: 400, cpu_seconds: 4, sandboxes: 30, peak_in_flight: 300, peak_memory_mb: 400 }),
    };
    const run = figures({ cpu_seconds: 0.3 });
    expect(measuredScale([resources({ servers: "workers", run, workers })])).toMatchObject({
      rollouts: 1_000,
      cpu_ms_per_rollout: 10,
      memory_kb_in_flight: 1024,
      sandboxes_in_flight: 0.1,
      collector_cpu_ms_per_rollout: 0.3,
    });
  });

  it("derives memory mainly from runs with more rollouts in flight", () => {
    // From idle to 64 in flight, the heap grew by the program's fixed cost.
    const small = resources({ run: figures({ peak_in_flight: 64, peak_memory_mb: 164 }) });
    const large = resources({ run: figures({ peak_in_flight: 6_400, peak_memory_mb: 740 }) });
    expect(measuredScale([small]).memory_kb_in_flight).toBeCloseTo(1024);
    expect(measuredScale([small, large]).memory_kb_in_flight).toBeLessThan(110);
  });

  it("reports why a run has no usable figures", () => {
    expect(() => measuredScale([resources({ servers: "elsewhere" })])).toThrow("started elsewhere");
    expect(() => measuredScale([resources({ run: figures({ rollouts: 0 }) })])).toThrow("no rollout ended");
    expect(() => measuredScale([resources({ servers: "workers" })])).toThrow("no rollout ended");
  });
});

describe("planScale", () => {
  it("grows linearly with the number of rollouts in flight", () => {
    const plan = (inFlight: number) => planScale(measured, { inFlight, utilization: 0.5 });
    const [small, large] = [plan(10_000), plan(100_000)];
    expect(small.rollouts_per_second).toBe(1_000);
    // 1,000 a second of 5 ms keep five cores busy, ten at half load.
    expect(small.workers).toMatchObject({ count: 10, concurrency: 1_000, busy_cores: 5, memory_mb: 240 });
    expect(large.workers).toMatchObject({ count: 100, concurrency: 1_000, total_memory_mb: 24_000 });
    expect(large.sandboxes).toBe(50_000);
  });

  it("adds workers if memory or slots are exhausted before CPU", () => {
    const slow = { inFlight: 100_000, utilization: 0.7, rolloutSeconds: 10_000 };
    expect(planScale(measured, slow).workers).toMatchObject({ count: 4, concurrency: 25_000 });
    const { workers } = planScale(measured, { ...slow, workerMemoryMb: 1_320 });
    expect(workers).toMatchObject({ count: 10, concurrency: 10_000 });
    expect(workers.memory_mb).toBeCloseTo(1_320);
  });

  it("lengthens leases so that heartbeats stay bounded", () => {
    const broker = (inFlight: number) => planScale(measured, { inFlight, utilization: 0.7 }).broker;
    expect(broker(1_000)).toMatchObject({ lease_seconds: 30, heartbeats_per_second: 100 });
    expect(broker(1_000_000)).toMatchObject({ lease_seconds: 300, heartbeats_per_second: 10_000 });
  });

  it("warns about few figures and an overloaded collector", () => {
    expect(planScale(measured, { inFlight: 1_000, utilization: 0.7 }).warnings).toEqual([]);
    const { warnings } = planScale(
      { ...measured, rollouts: 5, peak_in_flight: 5 },
      { inFlight: 1_000_000, utilization: 0.7, workerMemoryMb: 50 },
    );
    expect(warnings).toEqual([
      expect.stringContaining("Only 5 rollouts"),
      expect.stringContaining("At most 5 rollouts were in flight"),
      expect.stringContaining("have not been tried"),
      expect.stringContaining("One collector takes 3500 rollouts a second: divide the input into 29 runs."),
      expect.stringContaining("50 MB are not enough"),
    ]);
  });
});
