import { realpathSync } from "node:fs";
import {
  type AgentCapabilities,
  discoverAgents,
  discoverModels,
  discoverResourcesServers,
} from "../../workloads/catalog/components.ts";
import { matchesQuery } from "../../workloads/catalog/matches.ts";
import type { CommandContext } from "../command.ts";
import { listingKeys } from "../config-keys.ts";
import {
  commonKeys,
  configPlace,
  openCatalog,
  printInspection,
  printListing,
  printUnknown,
  withValue,
} from "./listing.ts";

/** Runs `gym list agents`. */
export async function listAgents(context: CommandContext): Promise<number> {
  const { component_name, query } = await listingKeys(context, commonKeys);
  const all = discoverAgents(openCatalog(context));
  if (component_name !== undefined) {
    const agent = all.find(({ name }) => name === component_name);
    if (agent === undefined) return printUnknown(context, "agent", component_name, all.map(nameOf));
    return printInspection(context, {
      name: agent.name,
      type: "agent",
      description: agent.description,
      details: {
        path: realpathSync(agent.folder),
        composition: composition(agent.selfContained),
        can: agent.capabilities ? abilities(agent.capabilities) : undefined,
        variants: agent.variants.join(", "),
      },
    });
  }
  const agents = all.filter(
    ({ name, description, variants }) =>
      query === undefined || matchesQuery(query, [name, description, ...variants]),
  );
  return printListing(context, {
    plural: "agents",
    query,
    rows: agents.map(({ name, selfContained, variants, description, capabilities }) => ({
      name,
      pattern: selfContained ? "B (self-contained)" : "A (composable)",
      self_contained: selfContained,
      variants,
      description: description ?? null,
      capabilities: capabilities ?? null,
    })),
    table: {
      title:
        query === undefined
          ? `NeMo Gym agents (${agents.length})`
          : `Agents matching '${query}' (${agents.length})`,
      columns: ["agent", "composition", "variants", "can", "description"],
      optional: ["composition", "variants", "can"],
      rows: agents.map(({ name, selfContained, variants, capabilities, description = "" }) => [
        name,
        composition(selfContained),
        variants.join(", ") || "—",
        capabilities ? abilities(capabilities) : "—",
        description,
      ]),
    },
  });
}

/** Runs `gym list models`. */
export async function listModels(context: CommandContext): Promise<number> {
  const { component_name, query } = await listingKeys(context, commonKeys);
  const all = discoverModels(openCatalog(context));
  if (component_name !== undefined) {
    const model = all.find(({ name }) => name === component_name);
    if (model === undefined) return printUnknown(context, "model", component_name, all.map(nameOf));
    return printInspection(context, {
      name: model.name,
      type: "model",
      details: { config: realpathSync(model.configFile) },
      usage: `gym eval run --resources-server example_single_tool_call --model-type ${model.name}`,
    });
  }
  const models = all.filter(({ name, group }) => query === undefined || matchesQuery(query, [name, group]));
  return printListing(context, {
    plural: "models",
    query,
    rows: models.map(({ name, group }) => ({ name, model: name, model_group: group })),
    table: {
      title:
        query === undefined
          ? `NeMo Gym models (${models.length})`
          : `Models matching '${query}' (${models.length})`,
      columns: ["Model", "Model group"],
      rows: models.map(({ name, group }) => [name, group]),
    },
  });
}

/** Runs `gym list resources-servers`. */
export async function listResourcesServers(context: CommandContext): Promise<number> {
  const { component_name, query } = await listingKeys(context, commonKeys);
  const all = discoverResourcesServers(openCatalog(context));
  if (component_name !== undefined) {
    const server = all.find(({ name }) => name === component_name);
    if (server === undefined)
      return printUnknown(context, "resources server", component_name, all.map(nameOf));
    return printInspection(context, {
      name: server.name,
      type: "resources server",
      domain: server.domain,
      description: withValue(server.description, server.value),
      details: { config: configPlace(server.configFile) },
      usage: `gym eval run --resources-server ${server.name} --model-type openai_model`,
    });
  }
  const servers = all.filter(
    ({ name, domain, description }) =>
      query === undefined || matchesQuery(query, [name, domain, description]),
  );
  return printListing(context, {
    plural: "resources servers",
    query,
    rows: servers.map(({ name, domain = null, description = null }) => ({ name, domain, description })),
    table: {
      title:
        query === undefined
          ? `Available resources servers in NeMo Gym (${servers.length})`
          : `Resources servers matching '${query}' (${servers.length})`,
      columns: ["Name", "Domain", "Description"],
      optional: ["Domain"],
      rows: servers.map(({ name, domain = "", description = "" }) => [name, domain, description]),
    },
  });
}

function nameOf({ name }: { name: string }): string {
  return name;
}

function composition(selfContained: boolean): string {
  return selfContained ? "self-contained (B)" : "composable (A)";
}

const TOOL_ACCESS: Readonly<Record<string, string>> = {
  http: "tools by HTTP",
  mcp: "tools by MCP",
  environment: "calls answered by the environment",
};
const TOKEN_IDS: Readonly<Record<string, string>> = {
  items: "token ids",
  capture: "token ids by capture",
};

function abilities({ tools, multi_turn, token_ids, sandbox }: AgentCapabilities): string {
  const list = [
    TOOL_ACCESS[tools],
    multi_turn ? "multi-turn" : undefined,
    TOKEN_IDS[token_ids],
    sandbox ? "sandbox" : undefined,
  ];
  return list.filter((ability) => ability !== undefined).join(", ") || "—";
}
