import { existsSync } from "node:fs";
import {
  applyOverrides,
  checkMissingValues,
  Interpolator,
  mergeDicts,
  readConfigFile,
  writeOverrides,
} from "../../config/door.ts";
import { ConfigError, OverrideError } from "../../config/errors.ts";
import { type ConfigNode, type DictNode, literalText, rawNodeAt } from "../../config/light-door.ts";
import { SubmitError } from "./errors.ts";
import { Problems } from "./problems.ts";
import { nearest } from "./schema-parts.ts";
import { type Compute, type Service, SubmitFile, type VllmService, type Workers } from "./submit-schema.ts";

/** The output file of a run, relative to the directory of its job. */
export const OUTPUT_OVERRIDE = "+output_jsonl_fpath=artifacts/rollouts.jsonl";
/** The prefix of the override with the address of a model that the job serves. */
export const POLICY_URL_OVERRIDE = "+policy_base_url=";
const POLICY_KEYS = ["policy_base_url", "policy_model_name", "policy_api_key"] as const;
/** The driver writes `logs/driver.log`. */
const RESERVED_NAME = "driver";

/** A checked submit file. docs/reference/submit.md describes every key. */
export interface SubmitConfig {
  readonly services: ReadonlyMap<string, Service>;
  readonly compute: Compute;
  readonly driver: Driver;
  /** The jobs that run the rollouts. Absent: the driver runs them. */
  readonly workers?: Workers & { container: string };
  /** The directory for the directories of the jobs, on the cluster. */
  readonly outputPath: string;
  readonly warnings: readonly string[];
}

export interface Driver extends Omit<SubmitFile["driver"], "benchmarks" | "policy_model"> {
  readonly policyModel?: VllmService;
  readonly benchmarks: ReadonlyMap<string, BenchmarkJob>;
}

export interface BenchmarkJob {
  /** Overrides of `gym eval prepare`; empty: nothing to prepare. */
  readonly prepare: readonly string[];
  /** Overrides of `gym eval run`. */
  readonly run: readonly string[];
}

/** Reads a submit file, merges the overrides of the command line and resolves all interpolations. */
export function loadSubmitFile(file: string, overrides: readonly string[], env: NodeJS.ProcessEnv): DictNode {
  if (!existsSync(file)) throw new SubmitError("SUBMIT_CONFIG", `'${file}' does not exist (--config).`);
  const root = readConfigFile(file);
  mergeDicts(root, applyOverrides(overrides.map(asReplacement), env), { root, path: [], env });
  checkMissingValues(root);
  return new Interpolator(root, env).resolveDeep(root, []) as DictNode;
}

/** An override adds or replaces a key, with and without a `+`. */
function asReplacement(word: string): string {
  if (word.startsWith("~")) {
    throw new OverrideError(`'${word}': keys cannot be removed from the file of a job; set them to null.`, {
      position: { source: "command line", line: 1, column: 1 },
    });
  }
  return `++${word.replace(/^\++/, "")}`;
}

/** Checks a submit file: first each block, then references between blocks. Every problem is reported with its position. */
export function readSubmitConfig(root: DictNode, file: string): SubmitConfig {
  const problems = new Problems(root, file);
  const { data, error } = SubmitFile.safeParse(valuesOf(root));
  for (const issue of error?.issues ?? []) problems.addIssue(issue);
  if (data === undefined) {
    problems.throwIfAny();
    throw error;
  }
  const { services } = data;
  const computes = Object.keys(data.compute);
  for (const [name, { placement }] of services) {
    if (name === RESERVED_NAME) problems.add(["services", name], "a service cannot be called 'driver'");
    if (placement !== undefined && !computes.includes(placement))
      problems.add(
        ["services", name, "placement"],
        `there is no compute '${placement}'${nearest(placement, computes)}`,
      );
  }
  const [compute, ...others] = Object.values(data.compute);
  if (compute === undefined) problems.add([], "compute is missing");
  if (others.length > 0)
    problems.add(["compute"], `must have exactly one entry, has ${computes.length}: ${computes.join(", ")}`);
  const driver = driverOf(data.driver, services, root, problems);
  const { output_path: outputPath } = data.job;
  const warnings: string[] = [];
  checkPorts(services, problems);
  if (compute) checkGpus(services, compute, problems, warnings);
  if (compute?.hostname !== undefined && !outputPath.startsWith("/"))
    problems.add(["job", "output_path"], "must begin with '/': it is a directory of the cluster");
  problems.throwIfAny();
  if (!compute) throw new Error("a config without problems has compute");
  const workers = data.workers && { ...data.workers, container: data.workers.container ?? driver.container };
  return { services, compute, driver, workers, outputPath, warnings };
}

/** The values of a config, with numbers as they were read. */
function valuesOf(node: ConfigNode): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(valuesOf);
  return Object.fromEntries([...node.entries].map(([key, value]) => [String(key), valuesOf(value)]));
}

/** All services share one machine, so no two can have the same port. */
function checkPorts(services: ReadonlyMap<string, Service>, problems: Problems): void {
  const owners = new Map<number, string>();
  for (const [name, service] of services) {
    if (service.type !== "vllm") continue;
    const owner = owners.get(service.port);
    if (owner === undefined) owners.set(service.port, name);
    else
      problems.add(["services", name], `has the same port as '${owner}', ${service.port}; give it another`);
  }
}

/** All instances of a vLLM service must fit on one node. */
function checkGpus(
  services: ReadonlyMap<string, Service>,
  compute: Compute,
  problems: Problems,
  warnings: string[],
): void {
  const pools = [...compute.node_pools.values()];
  const largest = Math.max(...pools.map(({ gpus_per_node: gpus }) => gpus ?? -1));
  if (largest < 0) return;
  for (const [name, service] of services) {
    if (service.type !== "vllm") continue;
    const {
      tensor_parallel_size: tensor,
      pipeline_parallel_size: pipeline,
      number_of_instances: instances,
    } = service;
    const needed = tensor * pipeline * instances;
    const product = `tensor_parallel_size ${tensor} x pipeline_parallel_size ${pipeline} x number_of_instances ${instances}`;
    if (needed > largest) {
      problems.add(
        ["services", name],
        `needs ${needed} GPUs (${product}), and the largest node pool has ${largest} per node`,
      );
    } else if (needed < largest) {
      warnings.push(`Service '${name}' uses ${needed} of the ${largest} GPUs of a node (${product}).`);
    }
  }
}

function driverOf(
  { policy_model, benchmarks: blocks, ...block }: SubmitFile["driver"],
  services: ReadonlyMap<string, Service>,
  root: DictNode,
  problems: Problems,
): Driver {
  const policyModel = policyModelOf(policy_model, services, problems);
  const benchmarks = new Map<string, BenchmarkJob>();
  for (const name of blocks.keys()) benchmarks.set(name, benchmarkOf(name, policyModel, root, problems));
  if (benchmarks.size === 0)
    problems.add(["driver"], "benchmarks: at least one is needed", ["driver", "benchmarks"]);
  return { ...block, policyModel, benchmarks };
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

/** Overrides for the model that the job serves on the same machine. */
function policyOverrides(model: VllmService | undefined, { origin }: DictNode): string[] {
  if (!model) return [];
  const values = [`http://localhost:${model.port}/v1`, model.model, "dummy"];
  const entries = POLICY_KEYS.map((key, index) => [key, literalText(values[index] ?? "", origin)] as const);
  return writeOverrides({ kind: "dict", entries: new Map(entries), origin });
}
