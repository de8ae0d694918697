import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { maskSecrets } from "../../base/secrets.ts";
import { writeYaml } from "../../config/door.ts";
import { DEFAULT_ORIGIN, type DictNode, nodeFromPlain, plainFromNode } from "../../config/light-door.ts";
import { isJsonWord } from "../arguments.ts";
import type { CommandContext } from "../command.ts";
import { openCluster } from "../submit/cluster.ts";
import { loadSubmitFile, readSubmitConfig, type SubmitConfig } from "../submit/read-submit-config.ts";
import { planJobs, type SubmittedJob, submitJobs } from "../submit/submit.ts";

/** Runs `gym eval submit`. */
export async function submitRun(context: CommandContext): Promise<number> {
  const { io, env, err } = context;
  const given = String(context.flags["config"]);
  const words = context.overrides.filter((word) => typeof word === "string" && !isJsonWord(word)) as string[];
  const root = loadSubmitFile(path.resolve(io.cwd, given), words, env);
  const config = readSubmitConfig(root, given);
  for (const warning of config.warnings) err(`Warning: ${warning}`);
  if (context.flags["resolve-only"]) return showResolved(context, root);
  if (context.flags["dry-run"]) return dryRun(context, config);
  return submit(context, config);
}

/** The checked file as it counts, without secrets. */
function showResolved({ out, json }: CommandContext, root: DictNode): number {
  const given = plainFromNode(root) as Record<string, unknown>;
  const shown = maskSecrets(
    Object.fromEntries(Object.entries(given).filter(([key]) => !key.startsWith("_"))),
  );
  out(json ? JSON.stringify(shown) : writeYaml(nodeFromPlain(shown, DEFAULT_ORIGIN)).trimEnd());
  return 0;
}

/** The scripts as sbatch would receive them, without secrets. */
function dryRun({ out, json, io }: CommandContext, config: SubmitConfig): number {
  const { directory, jobs } = planJobs(config, { now: new Date(), cwd: io.cwd, maskSecrets: true });
  if (json) {
    out(JSON.stringify({ dry_run: true, hostname: config.compute.hostname ?? null, directory, jobs }));
    return 0;
  }
  for (const job of jobs) {
    out(`# ${job.directory}/job.sh`);
    out(job.script);
  }
  return 0;
}

async function submit(context: CommandContext, config: SubmitConfig): Promise<number> {
  const { out, json, io, env, signal, terminal } = context;
  const plan = planJobs(config, { now: new Date(), cwd: io.cwd });
  const cluster = openCluster(config.compute.hostname, { env, signal });
  const submitted: SubmittedJob[] = [];
  let failure: unknown;
  try {
    await submitJobs(config, plan, cluster, (job) => {
      submitted.push(job);
      if (json) return;
      const id = job.jobId === undefined ? "(sbatch gave no job id)" : `job ${terminal.bold(job.jobId)}`;
      out(`${terminal.green("submitted")} ${job.benchmark}: ${id}, results in ${job.directory}/artifacts`);
    });
  } catch (error) {
    failure = error;
  }
  if (json) {
    const jobs = submitted.map(({ benchmark, directory, jobId = null }) => {
      return { benchmark, directory, job_id: jobId };
    });
    const hostname = config.compute.hostname ?? null;
    const error = failure === undefined ? null : errorMessage(failure);
    out(JSON.stringify({ dry_run: false, hostname, directory: plan.directory, jobs, error }));
  }
  if (failure !== undefined) throw failure;
  return 0;
}
