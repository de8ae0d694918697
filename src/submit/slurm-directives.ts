import type { NodePool, SlurmCompute, SlurmWorkers } from "./submit-config.ts";

/** The header of a job: what sbatch reads. Several node pools make a heterogeneous job; everything runs in the first. */
export function slurmDirectives(compute: SlurmCompute, benchmark: string, directory: string): string[] {
  const { account, walltime, extraArgs, nodePools } = compute;
  const shared: [string, string][] = [["account", account]];
  if (walltime !== undefined) shared.push(["time", walltime]);
  const job: [string, string][] = [["job-name", `gym-${benchmark}`], ...shared, ["chdir", directory]];
  if (!extraArgs.has("output")) job.push(["output", "logs/slurm-%j.log"]);
  const lines = [...job, ...extraArgs].map(directive);
  for (const [index, [name, pool]] of [...nodePools].entries()) {
    if (index > 0) lines.push("#SBATCH hetjob", ...shared.map(directive));
    lines.push(...poolDirectives(name, pool));
  }
  return lines;
}

/** The header of the array of workers. */
export function workerDirectives(compute: SlurmCompute, workers: SlurmWorkers, directory: string): string[] {
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
  if (!workers.extraArgs.has("output")) options.push(["output", "logs/slurm-%A_%a.log"]);
  return [...options, ...workers.extraArgs].map(directive);
}

function poolDirectives(name: string, pool: NodePool): string[] {
  const options: [string, string][] = [
    ["nodes", String(pool.nodes)],
    ["ntasks-per-node", String(pool.ntasksPerNode)],
  ];
  if (pool.gpusPerNode !== undefined) options.push(["gpus-per-node", String(pool.gpusPerNode)]);
  return [
    `${directive(["partition", pool.partition])}  # pool: ${name}`,
    ...[...options, ...pool.extraArgs].map(directive),
  ];
}

/** An option without a value is a switch. */
function directive([option, value]: readonly [string, string]): string {
  return `#SBATCH --${option}${value === "" ? "" : `=${directiveValue(value)}`}`;
}

/** sbatch ends a value at a blank or `#` unless it is quoted. */
function directiveValue(text: string): string {
  return /^[^\s#"'\\]+$/.test(text) ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
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
