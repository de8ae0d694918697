import type { Compute, NodePool, Workers } from "./submit-schema.ts";

/** The sbatch directives of a job. Several node pools make a heterogeneous job, and everything runs in the first. */
export function slurmDirectives(compute: Compute, benchmark: string, directory: string): string[] {
  const { account, walltime, extra_args: extra, node_pools: pools } = compute;
  const shared: [string, string][] = [["account", account]];
  if (walltime !== undefined) shared.push(["time", walltime]);
  const job: [string, string][] = [["job-name", `gym-${benchmark}`], ...shared, ["chdir", directory]];
  if (!extra.has("output")) job.push(["output", "logs/slurm-%j.log"]);
  const lines = [...job, ...extra].map(directive);
  for (const [index, [name, pool]] of [...pools].entries()) {
    if (index > 0) lines.push("#SBATCH hetjob", ...shared.map(directive));
    lines.push(...poolDirectives(name, pool));
  }
  return lines;
}

/** The sbatch directives of the array of workers. */
export function workerDirectives(compute: Compute, workers: Workers, directory: string): string[] {
  const options: [string, string][] = [
    ["job-name", "gym-workers"],
    ["account", compute.account],
    ["array", `1-${workers.count}`],
    ["time", workers.walltime],
    ["requeue", ""],
    ["open-mode", "append"],
    ["chdir", directory],
  ];
  if (workers.partition !== undefined) options.push(["partition", workers.partition]);
  if (!workers.extra_args.has("output")) options.push(["output", "logs/slurm-%A_%a.log"]);
  return [...options, ...workers.extra_args].map(directive);
}

function poolDirectives(name: string, pool: NodePool): string[] {
  const options: [string, string][] = [
    ["nodes", String(pool.nodes)],
    ["ntasks-per-node", String(pool.ntasks_per_node)],
  ];
  if (pool.gpus_per_node !== undefined) options.push(["gpus-per-node", String(pool.gpus_per_node)]);
  return [
    `${directive(["partition", pool.partition])}  # pool: ${name}`,
    ...[...options, ...pool.extra_args].map(directive),
  ];
}

/** An option without a value is a switch. */
function directive([option, value]: readonly [string, string]): string {
  return `#SBATCH --${option}${value === "" ? "" : `=${directiveValue(value)}`}`;
}

/** In sbatch an unquoted value ends at a blank or `#`. */
function directiveValue(text: string): string {
  return /^[^\s#"'\\]+$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** The time formats of Slurm: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds. */
export function walltimeSeconds(text: string): number {
  const [days, rest] = text.includes("-") ? text.split("-") : [undefined, text];
  const parts = (rest ?? "").split(":").map(Number);
  const [a = 0, b = 0, c = 0] = parts;
  if (days !== undefined) return Number(days) * 86_400 + a * 3_600 + b * 60 + c;
  if (parts.length === 3) return a * 3_600 + b * 60 + c;
  return a * 60 + b;
}
