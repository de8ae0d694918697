import { GymError } from "../../base/errors.ts";
import type { ResourceFigures, RunResources } from "./resources.ts";

/** Largest number of rollouts in flight that was measured in one worker process. */
const MOST_PER_WORKER = 25_000;
/** Spare memory, as a share of the computed amount. */
const MEMORY_HEADROOM = 1.2;
/** Minimum memory of a waiting rollout in a worker, even if a short run shows less. */
const LEAST_WORKER_KB = 28;
/** Measured with `npm run bench -- queue`. If the run used workers, the collector's CPU time comes from the run. */
const COLLECTOR = { cpuMs: 0.2, memoryMb: 150, memoryKb: 4 };
const BROKER = { cpuMs: 0.03, heartbeatCpuMs: 0.0026, memoryMb: 30, memoryKb: 2 };
const HEARTBEATS_PER_LEASE = 3;
const SHORTEST_LEASE_SECONDS = 30;
/** Maximum heartbeats per second. The plan lengthens the lease to stay below it. */
const MOST_HEARTBEATS = 10_000;
/** With fewer rollouts than this, the start of the programs affects the figures as much as the rollouts. */
const ENOUGH_ROLLOUTS = 200;
/** Memory is extrapolated linearly; beyond this factor, a larger run should be measured. */
const FAR = 50;
/** The largest number of rollouts in flight that was tested. */
const TRIED_IN_FLIGHT = 100_000;

export interface ScaleTarget {
  inFlight: number;
  /** Share of a core that may be busy. */
  utilization: number;
  /** Duration of a rollout, if the model or the tasks will differ from the measured ones. */
  rolloutSeconds?: number;
  /** Memory limit of one worker. */
  workerMemoryMb?: number;
}

export type MeasuredScale = ReturnType<typeof measuredScale>;
export type ScalePlan = ReturnType<typeof planScale>;

/** A run without rollout figures cannot be the basis of a plan. */
export class NothingMeasured extends GymError {
  constructor(reason: string) {
    super("SCALE_FIGURES", reason);
  }
}

/** The measured figures of one rollout. */
export function measuredScale(runs: readonly RunResources[]) {
  const samples = runs.flatMap(({ servers, run, workers }) => {
    if (servers === "elsewhere")
      throw new NothingMeasured("its servers were started elsewhere, so what they used was not measured");
    return servers === "own" ? [run] : Object.values(workers);
  });
  const ended = samples.filter(({ rollouts }) => rollouts > 0);
  if (ended.length === 0) throw new NothingMeasured("no rollout ended while it was measured");
  const rollouts = sum(ended, "rollouts");
  const collectors = runs.filter(({ servers }) => servers === "workers").map(({ run }) => run);
  const collected = sum(collectors, "rollouts");
  return {
    rollouts,
    peak_in_flight: Math.max(...ended.map((each) => each.peak_in_flight)),
    rollout_seconds:
      ended.reduce((total, each) => total + each.rollout_seconds * each.rollouts, 0) / rollouts,
    cpu_ms_per_rollout: (sum(ended, "cpu_seconds") * 1000) / rollouts,
    idle_memory_mb: sum(ended, "idle_memory_mb") / ended.length,
    memory_kb_in_flight: Math.max(LEAST_WORKER_KB, memorySlopeMb(ended) * 1024),
    sandboxes_in_flight: sum(ended, "sandboxes") / sum(ended, "peak_in_flight"),
    collector_cpu_ms_per_rollout:
      collected === 0 ? null : (sum(collectors, "cpu_seconds") * 1000) / collected,
  };
}

/** Megabytes per rollout in flight: the slope of the line fitted to the idle and peak memory of all processes. */
function memorySlopeMb(samples: readonly ResourceFigures[]): number {
  const points = samples.flatMap(({ idle_memory_mb, peak_memory_mb, peak_in_flight }) => [
    { x: 0, y: idle_memory_mb },
    { x: peak_in_flight, y: peak_memory_mb },
  ]);
  const meanX = points.reduce((total, { x }) => total + x, 0) / points.length;
  const meanY = points.reduce((total, { y }) => total + y, 0) / points.length;
  const spread = points.reduce((total, { x }) => total + (x - meanX) ** 2, 0);
  return points.reduce((total, { x, y }) => total + (x - meanX) * (y - meanY), 0) / spread;
}

/** The resources that this number of rollouts in flight needs. */
export function planScale(measured: MeasuredScale, target: ScaleTarget) {
  const { inFlight, utilization } = target;
  const seconds = target.rolloutSeconds ?? measured.rollout_seconds;
  // Little's law: the rate of completions is the number in flight divided by the duration.
  const rate = inFlight / seconds;
  const busy = (rate * measured.cpu_ms_per_rollout) / 1000;
  const kb = measured.memory_kb_in_flight;
  const memoryOf = (count: number) => (measured.idle_memory_mb + (count * kb) / 1024) * MEMORY_HEADROOM;
  const count = Math.max(
    1,
    Math.ceil(busy / utilization),
    Math.ceil(inFlight / Math.min(MOST_PER_WORKER, placesIn(target.workerMemoryMb, measured))),
  );
  const concurrency = Math.ceil(inFlight / count);
  const lease = Math.max(
    SHORTEST_LEASE_SECONDS,
    Math.ceil((inFlight * HEARTBEATS_PER_LEASE) / MOST_HEARTBEATS),
  );
  const heartbeats = (inFlight * HEARTBEATS_PER_LEASE) / lease;
  const collector = {
    busy_cores: (rate * (measured.collector_cpu_ms_per_rollout ?? COLLECTOR.cpuMs)) / 1000,
    memory_mb: (COLLECTOR.memoryMb + (inFlight * COLLECTOR.memoryKb) / 1024) * MEMORY_HEADROOM,
  };
  const broker = {
    busy_cores: (rate * BROKER.cpuMs + heartbeats * BROKER.heartbeatCpuMs) / 1000,
    memory_mb: (BROKER.memoryMb + (inFlight * BROKER.memoryKb) / 1024) * MEMORY_HEADROOM,
    heartbeats_per_second: heartbeats,
    lease_seconds: lease,
  };
  const workers = {
    count,
    concurrency,
    memory_mb: memoryOf(concurrency),
    total_memory_mb: memoryOf(concurrency) * count,
    busy_cores: busy,
  };
  return {
    in_flight: inFlight,
    rollout_seconds: seconds,
    rollouts_per_second: rate,
    workers,
    collector,
    broker,
    // One core per worker.
    cores: count + Math.ceil((collector.busy_cores + broker.busy_cores) / utilization),
    memory_mb: workers.total_memory_mb + collector.memory_mb + broker.memory_mb,
    sandboxes: Math.ceil(measured.sandboxes_in_flight * inFlight),
    warnings: warningsOf(measured, target, collector.busy_cores),
  };
}

/** Number of rollouts in flight that fit into the memory of one worker. */
function placesIn(memoryMb: number | undefined, measured: MeasuredScale): number {
  if (memoryMb === undefined) return Number.POSITIVE_INFINITY;
  const free = memoryMb / MEMORY_HEADROOM - measured.idle_memory_mb;
  return Math.max(1, Math.floor((free * 1024) / measured.memory_kb_in_flight));
}

function warningsOf(measured: MeasuredScale, target: ScaleTarget, collectorCores: number): string[] {
  const { inFlight, utilization, workerMemoryMb } = target;
  const warnings: string[] = [];
  if (measured.rollouts < ENOUGH_ROLLOUTS)
    warnings.push(
      `Only ${measured.rollouts} rollouts were measured: the programs were still warming up. Measure ${ENOUGH_ROLLOUTS} or more.`,
    );
  if (inFlight > measured.peak_in_flight * FAR)
    warnings.push(
      `At most ${measured.peak_in_flight} rollouts were in flight when this was measured: memory per rollout is a guess at ${inFlight}. Measure a run with more, or give several runs.`,
    );
  if (inFlight > TRIED_IN_FLIGHT)
    warnings.push(`More than ${TRIED_IN_FLIGHT} rollouts in flight have not been tried; this is arithmetic.`);
  if (collectorCores > utilization)
    warnings.push(
      `One collector takes ${((utilization / collectorCores) * (inFlight / (target.rolloutSeconds ?? measured.rollout_seconds))).toFixed(0)} rollouts a second: divide the input into ${Math.ceil(collectorCores / utilization)} runs.`,
    );
  if (workerMemoryMb !== undefined && workerMemoryMb / MEMORY_HEADROOM <= measured.idle_memory_mb)
    warnings.push(
      `A worker takes ${measured.idle_memory_mb.toFixed(0)} MB before its first rollout: ${workerMemoryMb} MB are not enough.`,
    );
  return warnings;
}

function sum(samples: readonly ResourceFigures[], member: keyof ResourceFigures): number {
  return samples.reduce((total, sample) => total + sample[member], 0);
}
