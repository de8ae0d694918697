import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readConfigText } from "../../config/read-config-file.ts";
import { openCluster, runTool } from "./cluster.ts";
import { readSubmitConfig } from "./read-submit-config.ts";
import { planJobs, type SubmittedJob, submitJobs } from "./submit.ts";

const NOW = new Date(2026, 0, 31, 9, 5, 7);

const SBATCH = `echo "sbatch $*" >>"$RECORD"; case $1 in */broken/*) echo "no such account" >&2; exit 1;; esac; echo "Submitted batch job 42"`;
/** Runs the command as the login shell of the other machine would. */
const SSH = `echo "ssh $1 $2 $3 $4 $5 $6" >>"$RECORD"; exec bash --norc -c "\${@: -1}"`;

async function machine(programs: Record<string, string>) {
  const directory = await mkdtemp(path.join(os.tmpdir(), "submit-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await mkdir(path.join(directory, "bin"));
  for (const [name, body] of Object.entries(programs)) {
    await writeFile(path.join(directory, "bin", name), `#!/bin/bash\n${body}\n`);
    await chmod(path.join(directory, "bin", name), 0o755);
  }
  const record = path.join(directory, "record");
  const env = { PATH: `${directory}/bin:/usr/bin:/bin`, RECORD: record };
  return { directory, env, record: () => readFile(record, "utf8") };
}

const configOf = (
  output: string,
  options: { hostname?: string; mounts?: string[]; names?: string[] } = {},
) => {
  const benchmarks = Object.fromEntries(
    (options.names ?? ["gpqa", "aime"]).map((name) => [name, { run: { limit: 5 } }]),
  );
  const compute = {
    cluster: { type: "slurm", account: "a", ...(options.hostname && { hostname: options.hostname }) },
  };
  const driver = { benchmarks, env: { HF_TOKEN: "hf-1" }, mounts: options.mounts ?? [] };
  const text = JSON.stringify({ compute, driver, job: { output_path: output } });
  return readSubmitConfig(readConfigText(text, { kind: "file", name: "jobs.yaml" }), "jobs.yaml");
};

async function submit(config: ReturnType<typeof configOf>, env: NodeJS.ProcessEnv, cwd = "/") {
  const jobs: SubmittedJob[] = [];
  const plan = planJobs(config, { now: NOW, cwd });
  await submitJobs(config, plan, openCluster(config.compute.hostname, { env }), (job) => jobs.push(job));
  return { jobs, plan };
}

describe.each([
  ["on this machine", undefined],
  ["over ssh", "user@login.example.org"],
])("submitting %s", (_, hostname) => {
  const at = hostname === undefined ? {} : { hostname };

  it("writes a directory per benchmark and passes each script to sbatch", async () => {
    const { directory, env, record } = await machine({ sbatch: SBATCH, ssh: SSH });
    const output = path.join(directory, "it's $HOME");
    const { jobs, plan } = await submit(configOf(output, at), env);
    expect(plan.directory).toBe(`${output}/gym-job-20260131_090507`);
    expect(jobs).toEqual(
      ["gpqa", "aime"].map((benchmark) => ({
        benchmark,
        directory: `${plan.directory}/${benchmark}`,
        jobId: "42",
      })),
    );
    const own = `${plan.directory}/gpqa`;
    expect((await readdir(own)).sort()).toEqual(["artifacts", "job.sh", "logs"]);
    expect(await readFile(`${own}/job.sh`, "utf8")).toBe(plan.jobs[0]?.script);
    expect((await stat(`${own}/job.sh`)).mode & 0o777).toBe(0o700);
    const said = await record();
    expect(said).toContain(`sbatch ${own}/job.sh\n`);
    if (hostname !== undefined)
      expect(said).toContain(`ssh -o BatchMode=yes -o ConnectTimeout=30 -- ${hostname}\n`);
    else expect(said).not.toContain("ssh");
  });

  it("checks the mounts before it writes anything", async () => {
    const { directory, env } = await machine({ sbatch: SBATCH, ssh: SSH });
    const output = path.join(directory, "out");
    const config = configOf(output, { ...at, mounts: [`${directory}:/data:ro`, "/no such/'place:/x"] });
    await expect(submit(config, env)).rejects.toThrow("do not exist:\n  driver.mounts: '/no such/'place'");
    await expect(stat(output)).rejects.toThrow("ENOENT");
  });

  it("never writes to an existing directory", async () => {
    const { directory, env } = await machine({ sbatch: SBATCH, ssh: SSH });
    const config = configOf(path.join(directory, "out"), at);
    await submit(config, env);
    await expect(submit(config, env)).rejects.toMatchObject({ name: "SubmitError" });
  });

  it("reports submitted jobs even if another job was rejected", async () => {
    const { directory, env } = await machine({ sbatch: SBATCH, ssh: SSH });
    const config = configOf(path.join(directory, "out"), { ...at, names: ["broken", "aime"] });
    const jobs: SubmittedJob[] = [];
    const plan = planJobs(config, { now: NOW, cwd: "/" });
    const done = submitJobs(config, plan, openCluster(hostname, { env }), (job) => jobs.push(job));
    await expect(done).rejects.toThrow(
      /'broken' was not submitted: \w+ failed \(exit code 1\): no such account/,
    );
    expect(jobs.map(({ benchmark }) => benchmark)).toEqual(["aime"]);
  });
});

describe("runTool", () => {
  it("suggests a login node if Slurm is missing", async () => {
    const { env } = await machine({});
    await expect(runTool(["sbatch", "x"], { env })).rejects.toThrow(
      "set `hostname` of the compute to a login node",
    );
  });

  it("stops waiting at the time limit", async () => {
    const { env } = await machine({ sbatch: "exec sleep 60" });
    await expect(runTool(["sbatch"], { env, timeLimitMs: 200 })).rejects.toThrow(
      "did not answer within 0.2 seconds",
    );
  });
});

it("resolves a relative output path against the working directory", () => {
  expect(planJobs(configOf("out"), { now: NOW, cwd: "/home/me" }).directory).toBe(
    "/home/me/out/gym-job-20260131_090507",
  );
});
