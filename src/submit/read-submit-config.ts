import { ConfigError } from "../config/errors.ts";
import { rawNodeAt } from "../config/key-path.ts";
import { type ConfigNode, type DictNode, literalText } from "../config/node.ts";
import { writeOverrides } from "../config/overrides/override-write.ts";
import { checkGpus, checkPorts } from "./check-placement.ts";
import { Problems } from "./problems.ts";
import { nearest } from "./schema-parts.ts";
import type {
  BenchmarkJob,
  Driver,
  Service,
  SlurmCompute,
  SubmitConfig,
  VllmService,
} from "./submit-config.ts";
import { READY, type ServiceBlock, SubmitFile } from "./submit-schema.ts";

/** Where a run writes its results, relative to the directory of its job. */
export const OUTPUT_OVERRIDE = "+output_jsonl_fpath=artifacts/rollouts.jsonl";
/** The overrides of a model that the job serves itself begin with this. */
export const POLICY_URL_OVERRIDE = "+policy_base_url=";
const POLICY_KEYS = ["policy_base_url", "policy_model_name", "policy_api_key"] as const;
/** `logs/driver.log` is the driver's. */
const RESERVED_NAME = "driver";

/** Checks the mapping of a submit file: first each block, then what they say about each other. Every mistake is reported with its place. */
export function readSubmitConfig(root: DictNode, file: string): SubmitConfig {
  const problems = new Problems(root, file);
  const { data, error } = SubmitFile.safeParse(valuesOf(root));
  for (const issue of error?.issues ?? []) problems.addIssue(issue);
  if (data === undefined) {
    problems.throwIfAny();
    throw error;
  }
  const computes = Object.keys(data.compute);
  const services = new Map<string, Service>();
  for (const [name, block] of data.services) {
    if (name === RESERVED_NAME) problems.add(["services", name], "a service cannot be called 'driver'");
    const { placement } = block;
    if (placement !== undefined && !computes.includes(placement))
      problems.add(
        ["services", name, "placement"],
        `there is no compute '${placement}'${nearest(placement, computes)}`,
      );
    services.set(name, serviceOf(block));
  }
  const [first, ...others] = Object.values(data.compute);
  if (first === undefined) problems.add([], "compute is missing");
  if (others.length > 0)
    problems.add(["compute"], `must have exactly one entry, has ${computes.length}: ${computes.join(", ")}`);
  const compute = first && computeOf(first);
  const driver = driverOf(data.driver, services, root, problems);
  const { output_path: outputPath } = data.job;
  const warnings: string[] = [];
  checkPorts(services, problems);
  if (compute) checkGpus(services, compute, problems, warnings);
  if (compute?.hostname !== undefined && !outputPath.startsWith("/"))
    problems.add(["job", "output_path"], "must begin with '/': it is a directory of the cluster");
  problems.throwIfAny();
  if (!compute) throw new Error("a config without problems has compute");
  const workers = data.workers && workersOf(data.workers, driver.container);
  return { services, compute, driver, workers, outputPath, warnings };
}

/** The values of a config, with numbers as they were read. */
function valuesOf(node: ConfigNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(valuesOf);
  return Object.fromEntries([...node.entries].map(([key, value]) => [String(key), valuesOf(value)]));
}

/** Every vLLM answers at /health. */
function serviceOf(block: ServiceBlock): Service {
  const { container, env, mounts, health_check: check } = block;
  const base = { container, env, mounts };
  const checkAt = (port: number) => ({
    path: check?.path ?? READY.path,
    port: check?.port ?? port,
    timeoutSeconds: check?.timeout_seconds ?? READY.timeoutSeconds,
  });
  if (block.type === "ray")
    return { type: "ray", ...base, healthCheck: check?.port === undefined ? undefined : checkAt(check.port) };
  return {
    type: "vllm",
    ...base,
    model: block.model,
    port: block.port,
    tensorParallelSize: block.tensor_parallel_size,
    pipelineParallelSize: block.pipeline_parallel_size,
    numberOfInstances: block.number_of_instances,
    trustRemoteCode: block.trust_remote_code,
    healthCheck: checkAt(block.port),
  };
}

function computeOf(block: SubmitFile["compute"][string]): SlurmCompute {
  const pools = [...block.node_pools].map(([name, pool]) => {
    const { partition, nodes, ntasks_per_node: ntasksPerNode, gpus_per_node: gpusPerNode } = pool;
    return [name, { partition, nodes, ntasksPerNode, gpusPerNode, extraArgs: pool.extra_args }] as const;
  });
  const { account, hostname, walltime, extra_args: extraArgs } = block;
  return { account, hostname, walltime, nodePools: new Map(pools), extraArgs };
}

function workersOf(block: NonNullable<SubmitFile["workers"]>, container: string): SubmitConfig["workers"] {
  const { drain_seconds: drainSeconds, idle_seconds: idleSeconds, extra_args: extraArgs, ...rest } = block;
  return { ...rest, drainSeconds, idleSeconds, extraArgs, container: block.container ?? container };
}

function driverOf(
  block: SubmitFile["driver"],
  services: ReadonlyMap<string, Service>,
  root: DictNode,
  problems: Problems,
): Driver {
  const { container, gym_install: gymInstall, env, mounts } = block;
  const policyModel = policyModelOf(block.policy_model, services, problems);
  const benchmarks = new Map<string, BenchmarkJob>();
  for (const name of block.benchmarks.keys())
    benchmarks.set(name, benchmarkOf(name, policyModel, root, problems));
  if (benchmarks.size === 0)
    problems.add(["driver"], "benchmarks: at least one is needed", ["driver", "benchmarks"]);
  return { container, gymInstall, policyModel, benchmarks, env, mounts };
}

function policyModelOf(
  name: string | undefined,
  services: ReadonlyMap<string, Service>,
  problems: Problems,
): VllmService | undefined {
  if (name === undefined) return undefined;
  const service = services.get(name);
  if (service?.type === "vllm") return service;
  const known = [...services].filter(([, { type }]) => type === "vllm").map(([known]) => known);
  const what = service ? `'${name}' serves no model (type ${service.type})` : `there is no service '${name}'`;
  problems.add(
    ["driver", "policy_model"],
    `${what}${nearest(name, known) || `. Services with a model: ${known.join(", ") || "none"}`}`,
  );
  return undefined;
}

function benchmarkOf(
  name: string,
  policyModel: VllmService | undefined,
  root: DictNode,
  problems: Problems,
): BenchmarkJob {
  const at = (...keys: string[]) => ["driver", "benchmarks", name, ...keys];
  const taken = (key: string) => rawNodeAt(root, at("run", key)) !== undefined;
  for (const key of policyModel ? POLICY_KEYS : [])
    if (taken(key))
      problems.add(at("run", key), "is set by driver.policy_model already; remove one of the two");
  if (taken("output_jsonl_fpath"))
    problems.add(at("run", "output_jsonl_fpath"), "is set by the job (artifacts/rollouts.jsonl); remove it");
  const overrides = (key: string): string[] => {
    const values = rawNodeAt(root, at(key));
    try {
      return values?.kind === "dict" ? writeOverrides(values) : [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.add(at(key), error.message);
      return [];
    }
  };
  return {
    prepare: overrides("prepare"),
    run: [...overrides("run"), ...policyOverrides(policyModel, root)],
  };
}

/** The model that the job serves itself, reached from the same machine. */
function policyOverrides(model: VllmService | undefined, { origin }: DictNode): string[] {
  if (!model) return [];
  const values = [`http://localhost:${model.port}/v1`, model.model, "dummy"];
  const entries = POLICY_KEYS.map((key, index) => [key, literalText(values[index] ?? "", origin)] as const);
  return writeOverrides({ kind: "dict", entries: new Map(entries), origin });
}
