import { integerFrom, serverBlocks } from "../../../config/door.ts";
import { ConfigError } from "../../../config/errors.ts";
import { type ConfigNode, type DictNode, plainFromNode, textOfNode } from "../../../config/light-door.ts";
import { findExistingPath } from "../../../config/paths.ts";
import { type ConfigFiles, datasetsOf } from "./config-files.ts";
import type { Workload } from "./workloads.ts";

/** The parts of a workload. */
export interface WorkloadParts {
  /** Implementations: the names of folders in `resources_servers/`. */
  readonly resourcesServers: readonly string[];
  /** Implementation of the agent. */
  readonly agent?: string;
  /** Names of the datasets. */
  readonly datasets: readonly string[];
  /** Their repositories on the Hugging Face hub. */
  readonly hubDatasets: readonly string[];
  /** The agent instance with the benchmark dataset, the number of repeats per row, and `about` of its prepare.yaml. */
  readonly benchmark?: {
    readonly agentName: string;
    readonly numRepeats: number | undefined;
    readonly rows?: number;
    readonly license?: string;
    readonly needs?: readonly string[];
  };
  /** What the config says that it needs or offers: `judge`, `mcp`, `multi turn`. */
  readonly capabilities: readonly string[];
  readonly value?: string;
  /** Why the config does not resolve. */
  readonly problem?: string;
}

/** Reads the parts of a workload from its config and the included files. */
export function readParts({ configFile, kind }: Workload, files: ConfigFiles): WorkloadParts {
  let layers: DictNode[];
  try {
    layers = files.layers(configFile);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { resourcesServers: [], datasets: [], hubDatasets: [], capabilities: [], problem: error.message };
  }
  const own = layers.at(-1);
  const blocks = layers.flatMap((layer) => [...serverBlocks(layer)]);
  const ownBlocks = own === undefined ? [] : [...serverBlocks(own)];
  const agents = blocks.filter(({ type }) => type === "responses_api_agents");
  const ownDatasets = ownBlocks.flatMap(({ block }) => datasetsOf(block));
  // Datasets of included files count only if the config itself has none.
  const datasets = ownDatasets.length > 0 ? ownDatasets : agents.flatMap(({ block }) => datasetsOf(block));
  const servers = blocks.filter(({ type }) => type === "resources_servers");
  return {
    resourcesServers: [...new Set(servers.map(({ implementation }) => implementation))],
    agent: agents[0]?.implementation,
    datasets: [...new Set(datasets.flatMap((dataset) => textOfNode(dataset.entries.get("name")) ?? []))],
    hubDatasets: [...new Set(datasets.flatMap(hubRepository))],
    capabilities: [
      ...(servers.some(({ block }) => hasJudge(block)) ? ["judge"] : []),
      ...(servers.some(({ block }) => isTrue(block.entries.get("expose_tools_over_mcp"))) ? ["mcp"] : []),
      ...(agents.some(({ implementation }) => implementation === "gymnasium_agent") ? ["multi turn"] : []),
    ],
    value: servers
      .map(({ block }) => textOfNode(block.entries.get("value")))
      .find((value) => value !== undefined),
    benchmark: kind === "benchmark" ? benchmarkAgent(blocks, files) : undefined,
  };
}

const hasJudge = (block: DictNode): boolean =>
  [...block.entries.keys()].some((key) => String(key).endsWith("judge_model_server"));

const isTrue = (node: ConfigNode | undefined): boolean => node?.kind === "scalar" && node.value === true;

function hubRepository(dataset: DictNode): string[] {
  for (const key of ["source", "huggingface_identifier"]) {
    const source = dataset.entries.get(key);
    const id = source?.kind === "dict" ? textOfNode(source.entries.get("repo_id")) : undefined;
    if (id !== undefined) return [id];
  }
  return [];
}

function benchmarkAgent(
  blocks: readonly { name: string; block: DictNode }[],
  files: ConfigFiles,
): WorkloadParts["benchmark"] {
  for (const { name, block } of blocks) {
    const dataset = datasetsOf(block).find((entry) => textOfNode(entry.entries.get("type")) === "benchmark");
    if (dataset === undefined) continue;
    const written = dataset.entries.get("num_repeats");
    const numRepeats = written === undefined ? 1 : integerFrom(written);
    return {
      ...factsOf(textOfNode(dataset.entries.get("prepare_script")), files),
      agentName: name,
      numRepeats,
    };
  }
  return undefined;
}

/** What the prepare.yaml of a benchmark says about it. */
function factsOf(script: string | undefined, files: ConfigFiles): object {
  const yaml = script?.replace(/\.py$/, ".yaml");
  const file = yaml?.endsWith(".yaml") === true ? findExistingPath(yaml, files.roots) : undefined;
  const about = file === undefined ? undefined : files.tryRead(file)?.entries.get("about");
  return about === undefined ? {} : (plainFromNode(about) as object);
}
