import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { readConfigText } from "../../config/read-config-file.ts";
import { jobScript, workersScript } from "./job-script.ts";
import { readSubmitConfig } from "./read-submit-config.ts";

const configOf = (value: object) =>
  readSubmitConfig(readConfigText(JSON.stringify(value), { kind: "file", name: "jobs.yaml" }), "jobs.yaml");

const vllm = { type: "vllm", container: "vllm:latest", model: "org/model" };
const base = {
  compute: { cluster: { type: "slurm", account: "acct" } },
  services: { policy: vllm },
  driver: {
    container: "gym:1",
    policy_model: "policy",
    benchmarks: { gpqa: { run: { split: "benchmark" } } },
  },
  job: { output_path: "/jobs" },
};
const scriptOf = (value: object, maskSecrets = false) =>
  jobScript(configOf({ ...base, ...value }), { benchmark: "gpqa", directory: "/jobs/x/gpqa", maskSecrets });

describe("jobScript", () => {
  it("begins with the sbatch directives", () => {
    const compute = {
      cluster: {
        type: "slurm",
        account: "acct",
        walltime: "01:00:00",
        extra_args: { comment: 'all "of" it #1', exclusive: "" },
        node_pools: {
          big: {
            partition: "batch",
            nodes: 2,
            ntasks_per_node: 4,
            gpus_per_node: 8,
            extra_args: { gres: "shard:8" },
          },
          small: { partition: "cpu" },
        },
      },
    };
    expect(scriptOf({ compute, services: {}, driver: { benchmarks: { gpqa: {} } } }).split("\n\n")[0]).toBe(
      [
        "#!/bin/bash",
        "#SBATCH --job-name=gym-gpqa",
        "#SBATCH --account=acct",
        "#SBATCH --time=01:00:00",
        "#SBATCH --chdir=/jobs/x/gpqa",
        "#SBATCH --output=logs/slurm-%j.log",
        '#SBATCH --comment="all \\"of\\" it #1"',
        "#SBATCH --exclusive",
        "#SBATCH --partition=batch  # pool: big",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=4",
        "#SBATCH --gpus-per-node=8",
        "#SBATCH --gres=shard:8",
        "#SBATCH hetjob",
        "#SBATCH --account=acct",
        "#SBATCH --time=01:00:00",
        "#SBATCH --partition=cpu  # pool: small",
        "#SBATCH --nodes=1",
        "#SBATCH --ntasks-per-node=1",
      ].join("\n"),
    );
  });

  it("serves models in their containers", () => {
    const services = {
      policy: {
        ...vllm,
        tensor_parallel_size: 2,
        pipeline_parallel_size: 3,
        number_of_instances: 4,
        trust_remote_code: true,
        env: { HF_HOME: "/a b" },
        mounts: ["/data:/data:ro", "/models"],
      },
      cluster: { type: "ray", container: "ray:2" },
    };
    const script = scriptOf({ services });
    expect(script).toContain(
      "HF_HOME='/a b' srun --overlap --nodes=1 --ntasks=1 --no-container-mount-home --container-mounts=/data:/data:ro,/models " +
        "--container-image=vllm:latest --output=logs/policy.log vllm serve org/model --port 8000 --tensor-parallel-size 2 " +
        "--pipeline-parallel-size 3 --data-parallel-size 4 --trust-remote-code &",
    );
    expect(script).toContain("--container-image=ray:2 --output=logs/cluster.log ray start --head --block &");
    expect(script).toContain("wait_for policy 8000 /health 1800");
    expect(script).not.toContain("wait_for cluster");
  });

  it("prepares only benchmarks with preparation settings", () => {
    const driver = (prepare: object) => ({
      driver: { benchmarks: { gpqa: { prepare, run: { limit: 5 } } } },
    });
    expect(scriptOf(driver({ config_paths: ["a.yaml"] }))).toContain(
      "  gym eval prepare '+config_paths=[a.yaml]'\n  gym eval run +output_jsonl_fpath=artifacts/rollouts.jsonl +limit=5\n",
    );
    expect(scriptOf(driver({}))).not.toContain("eval prepare");
  });

  it("masks secrets only if requested", () => {
    const driver = {
      ...base.driver,
      env: { WANDB_API_KEY: "wb-1", MODE: "x" },
      benchmarks: { gpqa: { run: { judge: { judge_api_key: "sk-1" }, max_output_tokens: 7 } } },
    };
    const shown = scriptOf({ driver }, true);
    expect(shown).not.toMatch(/wb-1|sk-1/);
    expect(shown).toContain("WANDB_API_KEY='****' MODE=x srun");
    expect(shown).toContain("+max_output_tokens=7 ");
    expect(shown).toContain("+policy_api_key=dummy");
    expect(scriptOf({ driver })).toContain("+judge.judge_api_key=sk-1");
  });
});

/** A directory with programs in front of PATH, in which a script runs as it would on a node. */
async function node(programs: Record<string, string>) {
  const directory = await mkdtemp(path.join(os.tmpdir(), "job-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  for (const name of ["bin", "logs", "artifacts"]) await mkdir(path.join(directory, name));
  // Runs what stands behind its options, in the container's working directory, into its log.
  const srun = `
while [[ \${1:-} == --* ]]; do
  case $1 in --output=*) log=\${1#*=};; --container-workdir=*) cd "\${1#*=}";; esac
  shift
done
exec "$@" >"$NODE_DIRECTORY/$log" 2>&1`;
  for (const [name, body] of Object.entries({ srun, ...programs })) {
    const file = path.join(directory, "bin", name);
    await writeFile(file, `#!/bin/bash\n${body}\n`);
    await chmod(file, 0o755);
  }
  const run = (script: string) =>
    new Promise<{ code: number | string | null | undefined; stdout: string; stderr: string }>((resolve) => {
      const env = {
        PATH: `${directory}/bin:${process.env["PATH"]}`,
        HOME: directory,
        NODE_DIRECTORY: directory,
      };
      execFile(
        "bash",
        ["--norc", "-c", script],
        { cwd: directory, env, timeout: 30_000 },
        (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }),
      );
    });
  return { directory, run, file: (name: string) => readFile(path.join(directory, name), "utf8") };
}

const RECORD = `for word in "$@"; do printf '<%s>' "$word" >>"$NODE_DIRECTORY/said"; done; echo "$GREETING" >>"$NODE_DIRECTORY/said"`;

/** Something that answers /health as a model server would. */
async function healthyPort(): Promise<number> {
  const server = createServer((request, response) =>
    response.writeHead(request.url === "/health" ? 200 : 404).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe("a job", () => {
  it("passes every argument on unchanged", async () => {
    const { directory, run, file } = await node({ gym: RECORD, vllm: "sleep 60" });
    const hostile = [
      "$(touch pwned)",
      "`touch pwned`",
      "'; touch pwned; '",
      '"; touch pwned; "',
      "a\nb",
      "$HOME",
      "\\",
      "*",
    ];
    const script = jobScript(
      configOf({
        ...base,
        services: { policy: { ...vllm, port: await healthyPort(), model: "x; touch pwned" } },
        driver: {
          ...base.driver,
          container: "gym; touch pwned",
          env: { GREETING: "$(touch pwned) it's" },
          benchmarks: { gpqa: { prepare: { a: 1 }, run: { texts: hostile, deep: { limit: 5 } } } },
        },
      }),
      { benchmark: "gpqa", directory },
    );
    const { code, stdout } = await run(script);
    const said = await file("said");
    expect(said).toContain("<eval><prepare><+a=1>$(touch pwned) it's\n");
    expect(said).toContain(
      "<eval><run><+output_jsonl_fpath=artifacts/rollouts.jsonl><--model-type><openai_model><+texts=[",
    );
    for (const text of hostile) expect(said).toContain(text.replaceAll("'", "\\'").replace(/^\\$/, "\\\\"));
    expect(said).toContain("<+deep.limit=5>");
    expect(stdout).toContain("policy is ready");
    expect(code).toBe(0);
    await expect(file("pwned")).rejects.toThrow("ENOENT");
  });

  it("ends with the exit code of the driver and leaves no service behind", async () => {
    const { directory, run, file } = await node({
      gym: "exit 7",
      vllm: `echo $$ >"$NODE_DIRECTORY/pid"; exec sleep 60`,
    });
    const services = { policy: { ...vllm, port: await healthyPort() } };
    expect(
      (await run(jobScript(configOf({ ...base, services }), { benchmark: "gpqa", directory }))).code,
    ).toBe(7);
    const pid = Number(await file("pid"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("ends when a service dies before it is ready, and names its log", async () => {
    const { directory, run, file } = await node({ gym: RECORD, vllm: "echo no GPU; exit 1" });
    const services = { policy: { ...vllm, port: 1 } };
    const { code, stderr } = await run(
      jobScript(configOf({ ...base, services }), { benchmark: "gpqa", directory }),
    );
    expect(code).toBe(1);
    expect(stderr).toContain("policy has ended; see logs/policy.log");
    expect(await file("logs/policy.log")).toBe("no GPU\n");
    await expect(file("said")).rejects.toThrow("ENOENT");
  });

  it("ends when a service dies during the evaluation", async () => {
    const { directory, run } = await node({ gym: "sleep 60", vllm: "sleep 1" });
    const services = { policy: { ...vllm, port: await healthyPort() } };
    const { code, stderr } = await run(
      jobScript(configOf({ ...base, services }), { benchmark: "gpqa", directory }),
    );
    expect(code).toBe(1);
    expect(stderr).toContain("policy has ended");
  });

  it("gives up on a service that never answers", async () => {
    const { directory, run } = await node({ gym: RECORD, vllm: "sleep 60" });
    const services = { policy: { ...vllm, port: 1, health_check: { timeout_seconds: 1 } } };
    const { code, stderr } = await run(
      jobScript(configOf({ ...base, services }), { benchmark: "gpqa", directory }),
    );
    expect(code).toBe(1);
    expect(stderr).toContain("policy did not answer within 1 seconds; see logs/policy.log");
  });

  it("installs the gym and stops if that fails", async () => {
    const { directory, run, file } = await node({
      git: `echo "git $*" >>"$NODE_DIRECTORY/said"; [[ $1 != clone ]] || touch "\${@: -1}/package.json"`,
      npm: `echo "npm $*" >>"$NODE_DIRECTORY/said"; [[ $1 != run ]] || exit 3`,
      gym: RECORD,
    });
    const driver = { benchmarks: { gpqa: {} }, gym_install: { repo: "https://example.org/gym", ref: "v1" } };
    const script = jobScript(configOf({ ...base, services: {}, driver }), { benchmark: "gpqa", directory });
    expect((await run(script)).code).toBe(3);
    const said = await file("said");
    expect(said).toMatch(
      /^git clone --quiet -- https:\/\/example\.org\/gym \S+\ngit -C \S+ checkout --quiet v1 --\nnpm ci\nnpm run build\n$/,
    );
  });
});

describe("workersScript", () => {
  const workers = {
    count: 16,
    queue: "nats://broker:4222",
    partition: "cpu",
    walltime: "1-00:00:00",
    concurrency: 128,
    env: { NATS_USER: "gym", NATS_PASSWORD: "secret" },
  };

  it("describes an array of workers that drain before their time limit and are requeued", async () => {
    const script = workersScript(configOf({ ...base, workers }), {
      directory: "/jobs/x/workers",
      maskSecrets: true,
    });
    expect(script.split("\n\n")[0]).toBe(
      [
        "#!/bin/bash",
        "#SBATCH --job-name=gym-workers",
        "#SBATCH --account=acct",
        "#SBATCH --array=1-16",
        "#SBATCH --time=1-00:00:00",
        "#SBATCH --requeue",
        "#SBATCH --open-mode=append",
        "#SBATCH --chdir=/jobs/x/workers",
        "#SBATCH --partition=cpu",
        "#SBATCH --output=logs/slurm-%A_%a.log",
      ].join("\n"),
    );
    expect(script).toContain(
      "gym worker --queue nats://broker:4222 --max-seconds 86100 --drain-seconds 270 --exit-when-idle 600 --concurrency 128",
    );
    expect(script).toContain("NATS_PASSWORD='****'");
    expect(script).not.toContain("secret");
    expect(script).toContain('scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"');
    const folder = await mkdtemp(path.join(os.tmpdir(), "workers-script-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(path.join(folder, "job.sh"), script);
    await new Promise<void>((resolve, reject) =>
      execFile("bash", ["-n", path.join(folder, "job.sh")], (error) => (error ? reject(error) : resolve())),
    );
  });

  it("lets runs use the queue, and gives workers the host name of the model", () => {
    const script = scriptOf({ workers });
    expect(script).toContain("--queue nats://broker:4222 --resume");
    expect(script).toContain('--model-url "http://$(hostname):8000/v1"');
    expect(script).not.toContain("localhost:8000/v1");
  });

  it("rejects a login in the address and a drain that is longer than the job", () => {
    expect(() =>
      configOf({ ...base, workers: { ...workers, queue: "nats://user:pass@broker:4222" } }),
    ).toThrow("without a login");
    expect(() => configOf({ ...base, workers: { ...workers, walltime: "00:05:00" } })).toThrow(
      "less than the walltime",
    );
  });
});
