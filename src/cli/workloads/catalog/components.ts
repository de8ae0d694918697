import { statSync } from "node:fs";
import path from "node:path";
import { serverBlocks } from "../../../config/door.ts";
import { type ConfigNode, impliedConfig, textOfNode } from "../../../config/light-door.ts";
import type { ConfigFiles } from "./config-files.ts";
import { subfolders, yamlFiles } from "./folders.ts";

/** A model server config for `--model-type`. */
export interface ModelComponent {
  readonly name: string;
  readonly group: string;
  readonly configFile: string;
}

/** A resources server config for `--resources-server`. */
export interface ResourcesServerComponent {
  readonly name: string;
  readonly configFile: string;
  readonly domain?: string;
  readonly description?: string;
  /** The purpose of the environment. */
  readonly value?: string;
}

export interface AgentComponent {
  readonly name: string;
  readonly folder: string;
  /** Whether it includes its own environment. Others need a resources server. */
  readonly selfContained: boolean;
  /** Names of its config files without the extension, sorted. */
  readonly variants: readonly string[];
  readonly description?: string;
  readonly capabilities?: AgentCapabilities;
}

/** The `capabilities` in the config of an agent. */
export interface AgentCapabilities {
  /** How it calls the tools: `http`, `mcp`, `environment` (the environment answers the calls) or `none`. */
  readonly tools: string;
  /** Whether it continues a conversation. Others start from the last user message, or ask the model once. */
  readonly multi_turn: boolean;
  /** How rollouts get token ids: from the `items`, by `capture` on the model server, or `none`. */
  readonly token_ids: string;
  /** Whether it runs commands in a sandbox. */
  readonly sandbox: boolean;
}

const AGENT_ENTRIES = ["app.ts", "app.js", "app.mjs", "app.py"];

export function discoverModels({ roots }: ConfigFiles): ModelComponent[] {
  const models = new Map<string, ModelComponent>();
  for (const config of componentConfigs(roots, "responses_api_models")) {
    const { name, folder: group, file: configFile } = config;
    if (!models.has(name)) models.set(name, { name, group, configFile });
  }
  return [...models.values()];
}

export function discoverResourcesServers(files: ConfigFiles): ResourcesServerComponent[] {
  const servers = new Map<string, ResourcesServerComponent>();
  for (const { name, file } of componentConfigs(files.roots, "resources_servers")) {
    if (servers.has(name)) continue;
    const root = files.tryRead(file);
    const instances = root === undefined ? [] : [...root.entries.values()];
    const serves = instances.some((node) => node.kind === "dict" && node.entries.has("resources_servers"));
    if (serves) servers.set(name, { name, configFile: file, ...files.metadata(file) });
  }
  return [...servers.values()];
}

export function discoverAgents(files: ConfigFiles): AgentComponent[] {
  const agents = new Map<string, AgentComponent>();
  for (const root of files.roots) {
    const parent = path.join(root, "responses_api_agents");
    for (const name of subfolders(parent)) {
      if (agents.has(name)) continue;
      const agent = readAgent(name, path.join(parent, name), files);
      if (agent !== undefined) agents.set(name, agent);
    }
  }
  return [...agents.values()];
}

/** The configs of a server type under all roots. `<folder>/configs/<folder>.yaml` is `<folder>`, others `<folder>/<flavor>`. */
function* componentConfigs(roots: readonly string[], type: string) {
  for (const root of roots) {
    for (const folder of subfolders(path.join(root, type))) {
      const configs = path.join(root, type, folder, "configs");
      const usual = path.join(configs, `${folder}.yaml`);
      if (impliedConfig(usual) !== undefined) yield { name: folder, folder, file: usual };
      for (const file of yamlFiles(configs)) {
        const flavor = file.slice(0, -".yaml".length);
        const name = flavor === folder ? folder : `${folder}/${flavor}`;
        yield { name, folder, file: path.join(configs, file) };
      }
    }
  }
}

function readAgent(name: string, folder: string, files: ConfigFiles): AgentComponent | undefined {
  const configs = path.join(folder, "configs");
  const variants: string[] = [];
  const keys = new Set<string>();
  let description: string | undefined;
  let capabilities: AgentCapabilities | undefined;
  for (const file of yamlFiles(configs)) {
    const root = files.tryRead(path.join(configs, file));
    const blocks = root === undefined ? [] : [...serverBlocks(root)];
    const agents = blocks.filter(({ type }) => type === "responses_api_agents");
    if (agents.length === 0) continue;
    variants.push(file.slice(0, -".yaml".length));
    for (const { block } of agents) {
      for (const key of block.entries.keys()) keys.add(String(key));
      description ??= textOfNode(block.entries.get("description"));
      capabilities ??= readCapabilities(block.entries.get("capabilities"));
    }
  }
  const hasEntry = AGENT_ENTRIES.some((entry) => isFile(path.join(folder, entry)));
  if (!hasEntry && variants.length === 0) return undefined;
  const composable =
    keys.has("resources_server") && !keys.has("agent_framework") && !keys.has("anthropic_api_key");
  return {
    name,
    folder,
    selfContained: variants.length > 0 && !composable,
    variants,
    description,
    capabilities,
  };
}

function readCapabilities(node: ConfigNode | undefined): AgentCapabilities | undefined {
  if (node?.kind !== "dict") return undefined;
  const text = (key: string) => textOfNode(node.entries.get(key));
  return {
    tools: text("tools") ?? "none",
    multi_turn: isTrue(node.entries.get("multi_turn")),
    token_ids: text("token_ids") ?? "none",
    sandbox: isTrue(node.entries.get("sandbox")),
  };
}

const isTrue = (node: ConfigNode | undefined) => node?.kind === "scalar" && node.value === true;

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}
