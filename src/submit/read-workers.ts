import type { BlockReader } from "./block-reader.ts";
import { sbatchOptions, WALLTIME } from "./read-compute.ts";
import { ENV_NAME, MOUNT } from "./read-service.ts";
import type { SlurmWorkers } from "./submit-config.ts";

const BROKER = [
  /^(?:nats|tls):\/\/[^\s@]+$/,
  "the address of a broker without a login, such as nats://host:4222",
] as const;

/** Reads `workers`: an array of jobs that take rollouts from a broker. */
export function readWorkers(block: BlockReader, container: string): SlurmWorkers {
  const workers = {
    count: block.integer("count", { default: 1, minimum: 1 }),
    queue: block.text("queue", { required: true, pattern: BROKER }),
    partition: block.text("partition"),
    walltime: block.text("walltime", { default: "04:00:00", pattern: WALLTIME }),
    drainSeconds: block.integer("drain_seconds", { default: 300, minimum: 1 }),
    idleSeconds: block.integer("idle_seconds", { default: 600, minimum: 1 }),
    concurrency: block.integer("concurrency", { minimum: 1 }),
    container: block.text("container", { default: container }),
    env: block.texts("env", ENV_NAME),
    mounts: block.textList("mounts", MOUNT),
    extraArgs: sbatchOptions(block),
  };
  if (walltimeSeconds(workers.walltime) <= workers.drainSeconds)
    block.problem("drain_seconds", `must be less than the walltime (${workers.walltime})`);
  block.finish();
  return workers;
}

/** Slurm's forms: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds. */
export function walltimeSeconds(text: string): number {
  const [days, rest] = text.includes("-") ? text.split("-") : [undefined, text];
  const parts = (rest ?? "").split(":").map(Number);
  const [a = 0, b = 0, c = 0] = parts;
  if (days !== undefined) return Number(days) * 86_400 + a * 3_600 + b * 60 + c;
  if (parts.length === 3) return a * 3_600 + b * 60 + c;
  return a * 60 + b;
}
