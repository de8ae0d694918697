import path from "node:path";
import {
  type MeasuredScale,
  measuredScale,
  NothingMeasured,
  planScale,
  readResources,
  type ScalePlan,
} from "../../run/scale/door.ts";
import type { CommandContext, FlagValues } from "../command.ts";
import type { scaleFlags } from "../commands/distributed.ts";
import { renderTable } from "../render/table.ts";

/** Runs `gym scale plan`. */
export async function scalePlan(
  context: CommandContext,
  flags: FlagValues<typeof scaleFlags>,
): Promise<number> {
  const { io, out, err } = context;
  const { rollouts: files, "worker-memory-gb": gigabytes } = flags;
  const target = {
    inFlight: flags["in-flight"],
    utilization: flags.utilization,
    rolloutSeconds: flags["rollout-seconds"],
    workerMemoryMb: gigabytes && gigabytes * 1024,
  };
  const runs = await Promise.all(files.map((file) => readResources(path.resolve(io.cwd, file))));
  let measured: MeasuredScale;
  try {
    measured = measuredScale(runs);
  } catch (error) {
    if (!(error instanceof NothingMeasured)) throw error;
    throw new NothingMeasured(`Nothing can be planned from ${files.join(", ")}: ${error.message}.`);
  }
  const plan = planScale(measured, target);
  if (context.json) {
    out(JSON.stringify({ measured, plan }));
    return 0;
  }
  show(measured, plan, context);
  for (const warning of plan.warnings) err(`warning: ${warning}`);
  return 0;
}

function show(measured: MeasuredScale, plan: ScalePlan, { out, terminal }: CommandContext): void {
  const { workers, collector, broker } = plan;
  out(
    `A rollout took ${measured.rollout_seconds.toFixed(2)} s and ${measured.cpu_ms_per_rollout.toFixed(2)} ms of CPU, and ${size(measured.memory_kb_in_flight / 1024)} of memory while it was in flight ` +
      `(${measured.rollouts} rollouts, ${measured.peak_in_flight} in flight at most).`,
  );
  out(
    `${plan.in_flight} in flight of ${plan.rollout_seconds.toFixed(2)} s each are ${rate(plan.rollouts_per_second)} rollouts a second.`,
  );
  const row = (what: string, count: number, cores: number, memory: number, total = memory) => [
    what,
    String(count),
    cores.toFixed(2),
    size(memory),
    size(total),
  ];
  const rows = [
    row("workers", workers.count, workers.busy_cores, workers.memory_mb, workers.total_memory_mb),
    row("collector", 1, collector.busy_cores, collector.memory_mb),
    row("broker", 1, broker.busy_cores, broker.memory_mb),
  ];
  const columns = ["what", "processes", "busy cores", "memory each", "memory"];
  out(renderTable({ title: "Needed", columns, rows }, terminal));
  out(`In all: ${plan.cores} cores, ${size(plan.memory_mb)} of memory.`);
  out(
    `Sandboxes at once: ${plan.sandboxes > 0 ? plan.sandboxes : "none on the machines of the workers; containers and services are not measured"}.`,
  );
  out(`Each worker:   gym worker --concurrency ${workers.concurrency}`);
  out(
    `The collector: gym eval run ... --concurrency ${plan.in_flight} ++queue_lease_seconds=${broker.lease_seconds}`,
  );
}

function size(megabytes: number): string {
  if (megabytes < 1) return `${(megabytes * 1024).toFixed(0)} kB`;
  return megabytes < 10_000 ? `${megabytes.toFixed(0)} MB` : `${(megabytes / 1024).toFixed(1)} GB`;
}

function rate(perSecond: number): string {
  return perSecond < 10 ? perSecond.toFixed(2) : perSecond.toFixed(0);
}
