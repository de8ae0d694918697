import { isSecretName, MASK, maskWord } from "../../base/secrets.ts";
import {
  type BenchmarkJob,
  type Driver,
  OUTPUT_OVERRIDE,
  POLICY_URL_OVERRIDE,
  type SubmitConfig,
} from "./read-submit-config.ts";
import { quotedCommand, shellWord } from "./shell-quote.ts";
import { slurmDirectives, walltimeSeconds, workerDirectives } from "./slurm-directives.ts";
import { DEFAULT_READINESS, type Service, type Workers } from "./submit-schema.ts";

/** All steps run on the node of the script, so services are at localhost. With `--overlap` they share the allocation. */
const SRUN = ["srun", "--overlap", "--nodes=1", "--ntasks=1", "--no-container-mount-home"];

interface JobScriptOptions {
  readonly benchmark: string;
  /** The directory of the job, on the cluster. */
  readonly directory: string;
  /** Writes `****` for the values of secret variables and keys. Such a script is for people, not for sbatch. */
  readonly maskSecrets?: boolean;
}

/** The script of one benchmark: starts the services, waits for them, runs the evaluation and cleans up. */
export function jobScript(config: SubmitConfig, options: JobScriptOptions): string {
  const { services, compute, driver } = config;
  const { benchmark, directory, maskSecrets = false } = options;
  const job = driver.benchmarks.get(benchmark);
  if (!job) throw new Error(`there is no benchmark '${benchmark}'`);
  const sections = [
    ["#!/bin/bash", ...slurmDirectives(compute, benchmark, directory)],
    ["set -u"],
    ...(services.size > 0 ? [HOUSEKEEPING] : []),
    ...[...services].map(([name, service]) => startService(name, service, maskSecrets)),
    ...[...services].flatMap(([name, service]) => waitFor(name, service)),
    driverFunction(driver, job, config.workers, maskSecrets),
    startDriver(driver, directory, maskSecrets),
    services.size > 0 ? WATCH : ['wait "$driver_pid"'],
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** Uses bash only: a compute node may have no curl. */
const HOUSEKEEPING = [
  "service_names=()",
  "service_pids=()",
  "driver_pid=",
  "",
  "# Services do not outlive the job.",
  "stop_services() {",
  '  kill "${service_pids[@]}" $driver_pid 2>/dev/null',
  "  wait",
  "}",
  "trap stop_services EXIT",
  "trap 'exit 143' TERM INT",
  "",
  "# Ends the job when a service has ended.",
  "check_services() {",
  "  local index",
  '  for index in "${!service_pids[@]}"; do',
  '    if ! kill -0 "${service_pids[index]}" 2>/dev/null; then',
  '      echo "${service_names[index]} has ended; see logs/${service_names[index]}.log" >&2',
  "      exit 1",
  "    fi",
  "  done",
  "}",
  "",
  "# Whether http://localhost:$1$2 answers with success.",
  "answers() (",
  '  exec 3<>"/dev/tcp/localhost/$1" || exit 1',
  "  printf 'GET %s HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' \"$2\" >&3",
  "  IFS= read -r -t 10 status <&3",
  "  [[ $status == HTTP/1.?\\ 2* ]]",
  ") 2>/dev/null",
  "",
  "# Waits until service $1 answers on port $2 at path $3, at most $4 seconds.",
  "wait_for() {",
  "  local deadline=$((SECONDS + $4))",
  '  echo "waiting for $1"',
  '  until answers "$2" "$3"; do',
  "    check_services",
  "    if ((SECONDS >= deadline)); then",
  '      echo "$1 did not answer within $4 seconds; see logs/$1.log" >&2',
  "      exit 1",
  "    fi",
  "    sleep 2",
  "  done",
  '  echo "$1 is ready"',
  "}",
];

/** Ends the job with a service: without it every further rollout would fail. */
const WATCH = [
  'while kill -0 "$driver_pid" 2>/dev/null; do',
  "  check_services",
  "  sleep 2",
  "done",
  'wait "$driver_pid"',
  "exit $?",
];

function startService(name: string, service: Service, mask: boolean): string[] {
  const srun = [
    ...SRUN,
    ...mountOption(service.mounts),
    `--container-image=${service.container}`,
    `--output=logs/${name}.log`,
  ];
  return [
    `# service: ${name}`,
    `${environment(service.env, mask)}${quotedCommand([...srun, ...serviceCommand(service)])} &`,
    `service_names+=(${shellWord(name)})`,
    'service_pids+=("$!")',
  ];
}

function serviceCommand(service: Service): string[] {
  // Without --block, Ray would run in the background and the step would end.
  if (service.type === "ray") return ["ray", "start", "--head", "--block"];
  const args = ["vllm", "serve", service.model, "--port", String(service.port)];
  args.push("--tensor-parallel-size", String(service.tensor_parallel_size));
  if (service.pipeline_parallel_size > 1)
    args.push("--pipeline-parallel-size", String(service.pipeline_parallel_size));
  if (service.number_of_instances > 1) args.push("--data-parallel-size", String(service.number_of_instances));
  if (service.trust_remote_code) args.push("--trust-remote-code");
  return args;
}

/** Every vLLM has a health check; a Ray service only if the file configures one. */
function waitFor(name: string, service: Service): string[][] {
  const check = service.health_check ?? DEFAULT_READINESS;
  const port = check.port ?? (service.type === "vllm" ? service.port : undefined);
  if (port === undefined) return [];
  return [[quotedCommand(["wait_for", name, String(port), check.path, String(check.timeout_seconds)])]];
}

/** The commands in the container of the driver. As a shell function they need no second quoting. */
function driverFunction(
  driver: Driver,
  job: BenchmarkJob,
  workers: Workers | undefined,
  mask: boolean,
): string[] {
  const shown = (overrides: readonly string[]) => (mask ? overrides.map(maskedOverride) : overrides);
  const run = ["gym", "eval", "run", OUTPUT_OVERRIDE];
  if (driver.policyModel) run.push("--model-type", "openai_model");
  if (workers) run.push("--queue", workers.queue, "--resume");
  // Workers on other machines reach the model by the host name of this machine.
  const isElsewhere = workers !== undefined && driver.policyModel !== undefined;
  const overrides = isElsewhere ? job.run.filter((word) => !word.startsWith(POLICY_URL_OVERRIDE)) : job.run;
  const address = isElsewhere ? ` --model-url "http://$(hostname):${driver.policyModel?.port}/v1"` : "";
  return [
    "driver() {",
    "  set -e",
    ...(driver.gym_install ? installCommands(driver.gym_install) : []),
    ...(job.prepare.length > 0
      ? [`  ${quotedCommand(["gym", "eval", "prepare", ...shown(job.prepare)])}`]
      : []),
    `  ${quotedCommand([...run, ...shown(overrides)])}${address}`,
    "}",
  ];
}

/** Installs this gym, or the Python original. */
function installCommands({ repo, ref }: NonNullable<Driver["gym_install"]>): string[] {
  return [
    "  source_directory=$(mktemp -d)",
    `  git clone --quiet -- ${shellWord(repo)} "$source_directory"`,
    `  git -C "$source_directory" checkout --quiet ${shellWord(ref)} --`,
    '  if [ -f "$source_directory/package.json" ]; then',
    '    (cd "$source_directory" && npm ci && npm run build && npm install --global .)',
    "  else",
    '    pip install --quiet --editable "$source_directory"',
    "  fi",
  ];
}

/** The directory of the job is mounted in the container and is its working directory, so that results are kept. */
function startDriver(driver: Driver, directory: string, mask: boolean): string[] {
  const srun = [
    ...SRUN,
    ...mountOption([...driver.mounts, `${directory}:${directory}`]),
    `--container-workdir=${directory}`,
    `--container-image=${driver.container}`,
    "--output=logs/driver.log",
  ];
  return [
    "# driver",
    `${environment(driver.env, mask)}${quotedCommand([...srun, "bash", "-c"])} "$(declare -f driver); driver" &`,
    "driver_pid=$!",
  ];
}

/** The script of the array of workers. A worker that reaches its time limit is queued again. */
export function workersScript(
  config: SubmitConfig,
  options: { directory: string; maskSecrets?: boolean },
): string {
  const { workers, driver, compute } = config;
  if (!workers) throw new Error("the config has no workers");
  const { directory, maskSecrets = false } = options;
  const seconds = walltimeSeconds(workers.walltime) - workers.drain_seconds;
  const args = [
    ...["gym", "worker", "--queue", workers.queue, "--max-seconds", String(seconds)],
    ...["--drain-seconds", String(Math.max(1, workers.drain_seconds - 30))],
    ...["--exit-when-idle", String(workers.idle_seconds)],
    ...(workers.concurrency === undefined ? [] : ["--concurrency", String(workers.concurrency)]),
  ];
  const srun = [
    ...SRUN,
    ...mountOption([...workers.mounts, `${directory}:${directory}`]),
    `--container-workdir=${directory}`,
    `--container-image=${workers.container}`,
    "--output=logs/worker-%A_%a.log",
  ];
  const sections = [
    ["#!/bin/bash", ...workerDirectives(compute, workers, directory)],
    ["set -u"],
    [
      "worker() {",
      "  set -e",
      ...(driver.gym_install ? installCommands(driver.gym_install) : []),
      `  ${quotedCommand(args)}`,
      "}",
    ],
    [
      `${environment(workers.env, maskSecrets)}${quotedCommand([...srun, "bash", "-c"])} "$(declare -f worker); worker"`,
      "status=$?",
      "# Its time was up, and there may be more to do.",
      `if ((status == 0 && SECONDS >= ${seconds})); then`,
      '  scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"',
      "fi",
      "exit $status",
    ],
  ];
  return `${sections.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function mountOption(mounts: readonly string[]): string[] {
  return mounts.length > 0 ? [`--container-mounts=${mounts.join(",")}`] : [];
}

/** Assignments in front of a command. Unlike arguments they do not appear in the process list. */
function environment(variables: ReadonlyMap<string, string>, mask: boolean): string {
  return [...variables]
    .map(([name, value]) => `${name}=${shellWord(mask && isSecretName(name) ? MASK : value)} `)
    .join("");
}

function maskedOverride(word: string): string {
  return word === "+policy_api_key=dummy" ? word : maskWord(word);
}
