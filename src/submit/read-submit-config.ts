import { ConfigError } from "../config/errors.ts";
import { type DictNode, literalText, type Origin } from "../config/node.ts";
import { writeOverrides } from "../config/overrides/override-write.ts";
import { BlockReader, nearest, Problems } from "./block-reader.ts";
import { checkGpus, checkPorts } from "./check-placement.ts";
import { readCompute } from "./read-compute.ts";
import { ENV_NAME, MOUNT, NAME, readService } from "./read-service.ts";
import { readWorkers } from "./read-workers.ts";
import type { BenchmarkJob, Driver, Service, SubmitConfig, VllmService } from "./submit-config.ts";

// upstream: orchestration/api.py
const DEFAULT_CONTAINER = "python:3.12";
const DEFAULT_REPOSITORY = "https://github.com/NVIDIA-NeMo/gym";
/** Where a run writes its results, relative to the directory of its job. */
export const OUTPUT_OVERRIDE = "+output_jsonl_fpath=artifacts/rollouts.jsonl";
/** The overrides of a model that the job serves itself begin with this. */
export const POLICY_URL_OVERRIDE = "+policy_base_url=";
const POLICY_KEYS = ["policy_base_url", "policy_model_name", "policy_api_key"] as const;
const GIT_REF = [/^(?!-)[^\p{Cc}\s]+$/u, "a branch, tag or commit"] as const;
const GIT_URL = [/^(?!-)[^\p{Cc}\s]+$/u, "an address that git can clone"] as const;

/** Checks the mapping of a submit file; every mistake in it is reported, with its place. */
export function readSubmitConfig(root: DictNode, file: string): SubmitConfig {
  const problems = new Problems(file);
  const top = new BlockReader(root, [], problems);
  const warnings: string[] = [];
  const computes = top.blocks("compute");
  const services = new Map<string, Service>();
  for (const [name, block] of top.blocks("services")) {
    const placement = block.text("placement");
    if (placement !== undefined && !computes.some(([known]) => known === placement)) {
      const known = computes.map(([compute]) => compute);
      block.problem("placement", `there is no compute '${placement}'${nearest(placement, known)}`);
    }
    const service = readService(name, block);
    if (service) services.set(name, service);
    block.finish();
  }
  const [first, second] = computes;
  if (top.get("compute") === undefined || first === undefined) top.problem(undefined, "compute is missing");
  if (second)
    top.problem(
      "compute",
      `must have exactly one entry, has ${computes.length}: ${computes.map(([name]) => name).join(", ")}`,
    );
  const compute = first && readCompute(first[1]);
  const driver = readDriver(top.block("driver", "required"), services);
  const workersBlock = top.block("workers");
  const workers = workersBlock && readWorkers(workersBlock, driver?.container ?? DEFAULT_CONTAINER);
  const job = top.block("job", "required");
  const outputPath = job?.text("output_path", { required: true }) ?? "";
  job?.finish();
  top.finish();
  checkPorts(services, top);
  if (compute) checkGpus(services, compute, top, warnings);
  if (compute?.hostname !== undefined && outputPath !== "" && !outputPath.startsWith("/")) {
    job?.problem("output_path", "must begin with '/': it is a directory of the cluster");
  }
  problems.throwIfAny();
  if (!compute || !driver) throw new Error("a config without problems has compute and driver");
  return { services, compute, driver, workers, outputPath, warnings };
}

function readDriver(
  block: BlockReader | undefined,
  services: ReadonlyMap<string, Service>,
): Driver | undefined {
  if (!block) return undefined;
  const container = block.text("container", { default: DEFAULT_CONTAINER });
  const install = block.block("gym_install");
  const gymInstall = install && {
    repo: install.text("repo", { default: DEFAULT_REPOSITORY, pattern: GIT_URL }),
    ref: install.text("ref", { required: true, pattern: GIT_REF }),
  };
  install?.finish();
  const policyModel = readPolicyModel(block, services);
  const benchmarks = new Map<string, BenchmarkJob>();
  for (const [name, entry] of block.blocks("benchmarks")) {
    if (!NAME[0].test(name)) entry.problem(undefined, `the name of a benchmark must be ${NAME[1]}`);
    benchmarks.set(name, readBenchmark(entry, policyModel));
    entry.finish();
  }
  if (benchmarks.size === 0)
    block.problem(block.get("benchmarks") ? "benchmarks" : undefined, "benchmarks: at least one is needed");
  const env = block.texts("env", ENV_NAME);
  const mounts = block.textList("mounts", MOUNT);
  block.finish();
  return { container, gymInstall, policyModel, benchmarks, env, mounts };
}

function readPolicyModel(
  block: BlockReader,
  services: ReadonlyMap<string, Service>,
): VllmService | undefined {
  const name = block.text("policy_model");
  if (name === undefined) return undefined;
  const service = services.get(name);
  if (service?.type === "vllm") return service;
  const known = [...services].filter(([, { type }]) => type === "vllm").map(([known]) => known);
  const what = service ? `'${name}' serves no model (type ${service.type})` : `there is no service '${name}'`;
  block.problem(
    "policy_model",
    `${what}${nearest(name, known) || `. Services with a model: ${known.join(", ") || "none"}`}`,
  );
  return undefined;
}

function readBenchmark(block: BlockReader, policyModel: VllmService | undefined): BenchmarkJob {
  const prepare = block.dict("prepare");
  const run = block.dict("run");
  const taken = (run && [...run.entries.keys()].map(String)) ?? [];
  if (policyModel) {
    for (const key of POLICY_KEYS) {
      if (taken.includes(key)) {
        block.problem(["run", key], "is set by driver.policy_model already; remove one of the two");
      }
    }
  }
  if (taken.includes("output_jsonl_fpath")) {
    block.problem(["run", "output_jsonl_fpath"], "is set by the job (artifacts/rollouts.jsonl); remove it");
  }
  return {
    prepare: overrides(block, "prepare", prepare),
    run: [...overrides(block, "run", run), ...policyOverrides(policyModel, block.node.origin)],
  };
}

function overrides(block: BlockReader, key: string, values: DictNode | undefined): string[] {
  if (values === undefined) return [];
  try {
    return writeOverrides(values);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    block.problem(key, error.message);
    return [];
  }
}

/** The model that the job serves itself, reached from the same machine. */
function policyOverrides(model: VllmService | undefined, origin: Origin): string[] {
  if (!model) return [];
  const values = [`http://localhost:${model.port}/v1`, model.model, "dummy"];
  const entries = POLICY_KEYS.map((key, index) => [key, literalText(values[index] ?? "", origin)] as const);
  return writeOverrides({ kind: "dict", entries: new Map(entries), origin });
}
