import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { project, repository, runGym } from "./gym-process.ts";

/** A project with a submit file, and a fake sbatch that keeps its input. */
async function cluster(more = "") {
  const directory = await project({
    "jobs.yaml": `
compute:
  local: {type: slurm, account: research, node_pools: {cpu: {partition: short}}}
driver:
  container: gym
  benchmarks:
    weather:
      run:
        config_paths:
          - resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml
          - responses_api_models/random_model/configs/random_model.yaml
        limit: 2
        responses_create_params: {temperature: 0.5}
job: {output_path: jobs}
${more}`,
    "bin/sbatch": '#!/bin/bash\necho "$@" >>sbatch.said\necho "Submitted batch job 4711"\n',
    "bin/gym": `#!/bin/bash\nexec ${process.execPath} ${path.join(repository, "bin/gym.js")} "$@"\n`,
    // Runs the command after its options in the working directory of the container.
    "bin/srun": `#!/bin/bash
while [[ $1 == --* ]]; do
  case $1 in --output=*) log=$PWD/\${1#*=};; --container-workdir=*) cd "\${1#*=}";; esac
  shift
done
exec "$@" >"$log" 2>&1
`,
  });
  for (const name of ["sbatch", "gym", "srun"]) await chmod(path.join(directory, "bin", name), 0o755);
  const env = { PATH: `${path.join(directory, "bin")}:${process.env["PATH"]}` };
  const submit = (...words: string[]) =>
    runGym(["eval", "submit", "-c", "jobs.yaml", ...words], { cwd: directory, env });
  return { directory, env, submit };
}

describe("gym eval submit", () => {
  it("writes a job that runs the evaluation, and passes it to sbatch", async () => {
    const { directory, env, submit } = await cluster();
    const { exitCode, stdout } = await submit("driver.benchmarks.weather.run.limit=1", "--json");
    expect(exitCode).toBe(0);
    const { jobs, directory: own } = JSON.parse(stdout) as {
      jobs: { directory: string; job_id: string }[];
      directory: string;
    };
    expect(own).toMatch(/\/jobs\/gym-job-\d{8}_\d{6}$/);
    expect(jobs).toEqual([{ benchmark: "weather", directory: `${own}/weather`, job_id: "4711" }]);
    expect(readFileSync(path.join(directory, "sbatch.said"), "utf8")).toBe(`${own}/weather/job.sh\n`);

    // Like Slurm: changes to the directory of --chdir, then runs the script.
    execFileSync("bash", ["--norc", `${own}/weather/job.sh`], {
      cwd: `${own}/weather`,
      env: { ...env, HOME: directory },
      timeout: 60_000,
    });
    const rows = readFileSync(`${own}/weather/artifacts/rollouts.jsonl`, "utf8").trim().split("\n");
    expect(rows).toHaveLength(1);
    expect(JSON.parse(rows[0] ?? "")).toMatchObject({ responses_create_params: { temperature: 0.5 } });
    expect(readFileSync(`${own}/weather/logs/driver.log`, "utf8")).toContain("Coverage: 1 of 1");
  }, 90_000);

  it("prints the scripts and writes nothing with --dry-run", async () => {
    const { directory, submit } = await cluster();
    const { exitCode, stdout } = await submit("--dry-run");
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^# \S+\/jobs\/gym-job-\d{8}_\d{6}\/weather\/job\.sh\n#!\/bin\/bash\n#SBATCH --job-name=gym-weather\n/,
    );
    expect(stdout).toContain(
      "gym eval run +output_jsonl_fpath=artifacts/rollouts.jsonl '+config_paths=[resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml," +
        "responses_api_models/random_model/configs/random_model.yaml]' +limit=2 +responses_create_params.temperature=0.5",
    );
    expect(existsSync(path.join(directory, "jobs"))).toBe(false);
    expect(existsSync(path.join(directory, "sbatch.said"))).toBe(false);
    const json = JSON.parse((await submit("--dry-run", "--json")).stdout) as { jobs: { script: string }[] };
    expect(json.jobs[0]?.script).toContain("#SBATCH --account=research");
  });

  it("reports the position of an error, with a suggestion", async () => {
    const { submit } = await cluster("servces: {}\n");
    const { exitCode, stdout, stderr } = await submit("--dry-run");
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/jobs\.yaml:15:\d+: unknown key 'servces'\. Did you mean 'services'\?/);
    expect((await runGym(["eval", "submit"], { cwd: "/" })).exitCode).toBe(2);
  });
});
