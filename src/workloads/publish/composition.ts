import { WorkloadError } from "../../config/errors.ts";
import type { RootOptions } from "../../config/paths.ts";
import { type ResolvedConfig, resolveConfig, type ServerInstance } from "../../config/resolve.ts";
import { DATASET_FIELDS, type Manifest, type ManifestDataset } from "../catalog/manifest.ts";

/** A server that takes part in a workload. */
export interface Component {
  readonly role: "resources_server" | "agent_server" | "model_server";
  /** Instance in the config. */
  readonly name: string;
  readonly implementation: string;
  /** The folder implementations of its kind lie in. */
  readonly boundary: string;
  readonly entrypoint: string | null;
}

/** What the config of a workload puts together: the fields a manifest mirrors, and where they come from. */
export interface Composition {
  readonly mirror: Pick<
    Manifest,
    "resources_server" | "agent_server" | "model_server" | "datasets" | "rollout_driver" | "grading_mode"
  >;
  readonly components: readonly Component[];
  /** Datasets as the config has them, with the place they can be downloaded from. */
  readonly entries: readonly Readonly<Record<string, unknown>>[];
}

/** The model that stands in where none is configured. */
const NO_MODEL = "dummy_model";

/** Resolves a workload's config by itself, without command line, `env.yaml` and network. */
export async function resolveComposition(configFile: string, options: RootOptions): Promise<Composition> {
  const config = await resolveConfig({
    ...options,
    initial: { config_paths: [configFile] },
    noModel: true,
    skipCli: true,
    skipEnvYaml: true,
    offline: true,
  });
  const agent = datasetAgent(config, configFile);
  const { resources_server: resources, model_server: model, datasets } = agent.config;
  const entries = datasets as Record<string, unknown>[];
  const named = (reference: unknown) => {
    const name = (reference as { name?: unknown } | null | undefined)?.name;
    return typeof name === "string" ? name : undefined;
  };
  const modelName = named(model);
  const resourcesServer = config.servers.find(({ name }) => name === named(resources));
  const modelServer = config.servers.find(({ name }) => name === modelName);
  const gradingMode = resourcesServer?.config["grading_mode"];
  return {
    entries,
    mirror: {
      resources_server: resourcesServer?.implementation ?? null,
      agent_server: agent.implementation,
      model_server: modelName ?? null,
      datasets: entries.map(mirrored),
      rollout_driver: textOrNull(config.get("rollout_collection_driver")),
      grading_mode: gradingMode === undefined || gradingMode === null ? null : String(gradingMode),
    },
    components: [
      ...(resourcesServer === undefined ? [] : [component("resources_server", resourcesServer)]),
      component("agent_server", agent),
      ...(modelName === undefined ? [] : [modelComponent(modelName, modelServer)]),
    ],
  };
}

/** The one agent with datasets: a workload has one task, so that its rewards mean one thing. */
function datasetAgent({ servers }: ResolvedConfig, configFile: string): ServerInstance {
  const agents = servers.filter(({ type, config }) => {
    const datasets = type === "responses_api_agents" ? config["datasets"] : undefined;
    return Array.isArray(datasets) && datasets.length > 0;
  });
  const [agent] = agents;
  if (agent !== undefined && agents.length === 1) return agent;
  const found = agents.map(({ name, implementation }) => `${name} (${implementation})`).join(", ") || "none";
  throw new WorkloadError(`${configFile}: exactly one agent must have datasets; found: ${found}.`);
}

function component(role: Component["role"], server: ServerInstance): Component {
  const { name, implementation, type, entrypoint } = server;
  return { role, name, implementation, boundary: type, entrypoint };
}

function modelComponent(name: string, server: ServerInstance | undefined): Component {
  const implementation = server?.implementation ?? name;
  return {
    role: "model_server",
    name,
    implementation: implementation === NO_MODEL ? "runtime-selected" : implementation,
    boundary: "responses_api_models",
    entrypoint: server?.entrypoint ?? null,
  };
}

/** A dataset as a manifest shows it: without what is null, and with the number of repeats spelled out. */
export function mirrored(entry: Readonly<Record<string, unknown>>): ManifestDataset {
  const given = DATASET_FIELDS.flatMap((field) => {
    const value = entry[field];
    return value === undefined || value === null ? [] : [[field, value]];
  });
  const dataset = Object.fromEntries(given) as unknown as ManifestDataset;
  return { ...dataset, num_repeats: Number(dataset.num_repeats ?? 1) };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
