import path from "node:path";
import type { Cluster } from "./cluster.ts";
import { SubmitError } from "./errors.ts";
import { jobScript, workersScript } from "./job-script.ts";
import type { SubmitConfig } from "./read-submit-config.ts";

/** The job name of the workers. */
const WORKERS = "workers";

/** The jobs of one submission, before they are written. */
export interface SubmitPlan {
  /** `<output_path>/gym-job-<YYYYmmdd_HHMMSS>` */
  readonly directory: string;
  readonly jobs: readonly PlannedJob[];
}

interface PlannedJob {
  readonly benchmark: string;
  readonly directory: string;
  readonly script: string;
}

export interface SubmittedJob {
  readonly benchmark: string;
  readonly directory: string;
  /** Absent if sbatch did not print an id. */
  readonly jobId?: string;
}

/** Plans one script per benchmark, in a directory named after the time. */
export function planJobs(
  config: SubmitConfig,
  { now, cwd, maskSecrets }: { now: Date; cwd: string; maskSecrets?: boolean },
): SubmitPlan {
  const base =
    config.compute.hostname === undefined ? path.resolve(cwd, config.outputPath) : config.outputPath;
  const root = path.posix.join(base, `gym-job-${timestamp(now)}`);
  const jobs = [...config.driver.benchmarks.keys()].map((benchmark) => {
    const directory = path.posix.join(root, benchmark);
    return { benchmark, directory, script: jobScript(config, { benchmark, directory, maskSecrets }) };
  });
  if (config.workers) {
    // Workers first: they wait for runs, and runs wait for them.
    const directory = path.posix.join(root, WORKERS);
    const script = workersScript(config, { directory, maskSecrets });
    jobs.unshift({ benchmark: WORKERS, directory, script });
  }
  return { directory: root, jobs };
}

/** Writes every script, then passes them to sbatch one by one. Calls `onJob` for each submitted job. */
export async function submitJobs(
  config: SubmitConfig,
  plan: SubmitPlan,
  cluster: Cluster,
  onJob: (job: SubmittedJob) => void,
): Promise<void> {
  await checkMounts(config, cluster);
  await cluster.makeDirectory(plan.directory);
  for (const { directory, script } of plan.jobs) {
    await cluster.makeDirectory(directory);
    await cluster.writeJob(directory, script);
  }
  const failed: string[] = [];
  for (const { benchmark, directory } of plan.jobs) {
    try {
      const answer = await cluster.sbatch(path.posix.join(directory, "job.sh"));
      onJob({ benchmark, directory, jobId: /Submitted batch job (\d+)/.exec(answer)?.[1] });
    } catch (error) {
      if (!(error instanceof SubmitError)) throw error;
      failed.push(`'${benchmark}' was not submitted: ${error.message}`);
    }
  }
  if (failed.length > 0) {
    throw new SubmitError("SUBMIT_TOOL", `${failed.join("\n")}\nThe scripts are in '${plan.directory}'.`);
  }
}

async function checkMounts({ services, driver, workers }: SubmitConfig, cluster: Cluster): Promise<void> {
  const owners: [string, readonly string[]][] = [["driver", driver.mounts]];
  if (workers) owners.push(["workers", workers.mounts]);
  for (const [name, { mounts }] of services) owners.push([`services.${name}`, mounts]);
  const sources = owners.flatMap(([owner, mounts]) =>
    mounts.map((mount) => ({ owner, source: mount.split(":")[0] ?? "" })),
  );
  const missing = new Set(await cluster.missing([...new Set(sources.map(({ source }) => source))]));
  const problems = sources.filter(({ source }) => missing.has(source));
  if (problems.length === 0) return;
  const list = problems.map(({ owner, source }) => `  ${owner}.mounts: '${source}'`).join("\n");
  throw new SubmitError("SUBMIT_MOUNT_MISSING", `Directories to mount do not exist:\n${list}`);
}

function timestamp(now: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  return `${day}_${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}
