import { isDeepStrictEqual } from "node:util";
import { dumps } from "../../../base/python/json/door.ts";
import {
  DUMMY_MODEL,
  type ResolvedConfig,
  resolveConfig,
  type ServerInstance,
} from "../../../config/door.ts";
import { WorkloadError } from "../../../config/errors.ts";
import { nodeFromPlain } from "../../../config/light-door.ts";
import type { RootOptions } from "../../../config/paths.ts";
import { writeYaml } from "../../../config/yaml/door.ts";
import { DATASET_FIELDS, type Manifest, type ManifestDataset } from "../catalog/manifest.ts";

/** A server of a workload. */
export interface Component {
  readonly role: "resources_server" | "agent_server" | "model_server";
  /** Instance in the config. */
  readonly name: string;
  readonly implementation: string;
  /** The folder of the implementations of its kind. */
  readonly boundary: string;
  readonly entrypoint: string | null;
}

/** The servers and datasets of a workload, and the fields that its manifest repeats. */
export interface Composition {
  readonly manifestFields: Pick<
    Manifest,
    "resources_server" | "agent_server" | "model_server" | "datasets" | "rollout_driver" | "grading_mode"
  >;
  readonly components: readonly Component[];
  /** Datasets as in the config, with their sources. */
  readonly entries: readonly Readonly<Record<string, unknown>>[];
}

/** Resolves the config of a workload without the command line, `env.yaml` and the network. */
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
    manifestFields: {
      resources_server: resourcesServer?.implementation ?? null,
      agent_server: agent.implementation,
      model_server: modelName ?? null,
      datasets: entries.map(toManifestDataset),
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

/** The only agent with datasets. A workload has one task, so that its rewards are comparable. */
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
    implementation: implementation === DUMMY_MODEL ? "runtime-selected" : implementation,
    boundary: "responses_api_models",
    entrypoint: server?.entrypoint ?? null,
  };
}

/** A dataset as in a manifest: without null fields, and with the number of repeats. */
export function toManifestDataset(entry: Readonly<Record<string, unknown>>): ManifestDataset {
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

type ManifestField = keyof Composition["manifestFields"];

export interface ManifestDifference {
  readonly field: ManifestField;
  readonly manifest: unknown;
  readonly config: unknown;
}

/** The fields in which a manifest and the config differ. */
export function manifestDifferences(
  manifest: Manifest,
  { manifestFields }: Composition,
): ManifestDifference[] {
  return (Object.keys(manifestFields) as ManifestField[])
    .map((field) => ({ field, manifest: manifestValue(manifest, field), config: manifestFields[field] }))
    .filter((found) => !isDeepStrictEqual(found.manifest, found.config));
}

function manifestValue(manifest: Manifest, field: ManifestField): unknown {
  if (field === "datasets") return manifest.datasets.map((dataset) => toManifestDataset({ ...dataset }));
  const value = manifest[field];
  return value === undefined || value === null ? null : value.trim();
}

/** A difference as one line of a message. */
export function differenceText({ field, manifest, config }: ManifestDifference): string {
  return `  - ${field}: manifest=${dumps(manifest, { sortKeys: true })}, config=${dumps(config, { sortKeys: true })}`;
}

/** Updates the fields in the text of a manifest. Comments and all other fields stay as they are. */
export function updateManifestText(text: string, differences: readonly ManifestDifference[]): string {
  const lines = text.replace(/\n*$/, "").split("\n");
  for (const { field, config } of differences) {
    const [start, end] = lineRange(field, lines);
    lines.splice(start, end - start, ...(config === null ? [] : fieldLines(field, config)));
  }
  return `${lines.join("\n")}\n`;
}

/** The lines of a top-level field, or the end of the text if the field is missing. */
function lineRange(field: string, lines: readonly string[]): [start: number, end: number] {
  const start = lines.findIndex((line) => new RegExp(`^(["']?)${field}\\1\\s*:(?:\\s|$)`).test(line));
  if (start < 0) return [lines.length, lines.length];
  const next = lines.findIndex((line, index) => index > start && /^[^\s#-]/.test(line));
  let end = next < 0 ? lines.length : next;
  // Blank lines and comments before the next field belong to that field.
  while (end > start + 1 && /^\s*(?:#|$)/.test(lines[end - 1] ?? "")) end--;
  return [start, end];
}

function fieldLines(field: string, value: unknown): string[] {
  const origin = { source: { kind: "default", name: "config" }, line: 0, column: 0 } as const;
  return writeYaml(nodeFromPlain({ [field]: value }, origin, true))
    .trimEnd()
    .split("\n");
}
