import { realpathSync } from "node:fs";
import type { CommandContext } from "../command.ts";
import { listingKeys } from "../config-keys.ts";
import type { Table } from "../render/table.ts";
import {
  type AgentCapabilities,
  discoverAgents,
  discoverModels,
  discoverResourcesServers,
} from "../workloads/catalog/components.ts";
import type { ConfigFiles } from "../workloads/catalog/config-files.ts";
import { matching } from "../workloads/catalog/matches.ts";
import { commonKeys } from "./keys.ts";
import {
  configPlace,
  type Inspection,
  openCatalog,
  printInspection,
  printListing,
  printUnknown,
  withValue,
} from "./listing.ts";

/** How the components of one type are listed and shown. */
interface ComponentType<T> {
  readonly type: string;
  /** The title above a list of all of them. */
  readonly title: string;
  readonly discover: (files: ConfigFiles) => readonly T[];
  /** The texts a query is compared with. */
  readonly texts: (component: T) => readonly (string | undefined)[];
  readonly inspect: (component: T) => Omit<Inspection, "name" | "type">;
  readonly json: (component: T) => object;
  readonly columns: Pick<Table, "columns" | "optional">;
  readonly cells: (component: T) => readonly string[];
}

async function list<T extends { name: string }>(
  context: CommandContext,
  kind: ComponentType<T>,
): Promise<number> {
  const { component_name, query } = await listingKeys(context, commonKeys);
  const { type } = kind;
  const all = kind.discover(openCatalog(context));
  if (component_name !== undefined) {
    const found = all.find(({ name }) => name === component_name);
    if (found !== undefined)
      return printInspection(context, { name: found.name, type, ...kind.inspect(found) });
    return printUnknown(
      context,
      type,
      component_name,
      all.map(({ name }) => name),
    );
  }
  const shown = query === undefined ? all : matching(query, all, kind.texts);
  const heading = `${type.charAt(0).toUpperCase()}${type.slice(1)}s matching '${query}'`;
  return printListing(context, {
    plural: `${type}s`,
    query,
    rows: shown.map(kind.json),
    table: {
      title: `${query === undefined ? kind.title : heading} (${shown.length})`,
      ...kind.columns,
      rows: shown.map(kind.cells),
    },
  });
}

/** Runs `gym list agents`. */
export function listAgents(context: CommandContext): Promise<number> {
  return list(context, {
    type: "agent",
    title: "NeMo Gym agents",
    discover: discoverAgents,
    texts: ({ name, description, variants }) => [name, description, ...variants],
    inspect: ({ description, folder, selfContained, capabilities, variants }) => ({
      description,
      details: {
        path: realpathSync(folder),
        composition: composition(selfContained),
        can: capabilities ? abilities(capabilities) : undefined,
        variants: variants.join(", "),
      },
    }),
    json: ({ name, selfContained, variants, description, capabilities }) => ({
      name,
      pattern: selfContained ? "B (self-contained)" : "A (composable)",
      self_contained: selfContained,
      variants,
      description: description ?? null,
      capabilities: capabilities ?? null,
    }),
    columns: {
      columns: ["agent", "composition", "variants", "can", "description"],
      optional: ["composition", "variants", "can"],
    },
    cells: ({ name, selfContained, variants, capabilities, description = "" }) => [
      name,
      composition(selfContained),
      variants.join(", ") || "—",
      capabilities ? abilities(capabilities) : "—",
      description,
    ],
  });
}

/** Runs `gym list models`. */
export function listModels(context: CommandContext): Promise<number> {
  return list(context, {
    type: "model",
    title: "NeMo Gym models",
    discover: discoverModels,
    texts: ({ name, group }) => [name, group],
    inspect: ({ name, configFile }) => ({
      details: { config: realpathSync(configFile) },
      usage: `gym eval run --resources-server example_single_tool_call --model-type ${name}`,
    }),
    json: ({ name, group }) => ({ name, model: name, model_group: group }),
    columns: { columns: ["Model", "Model group"] },
    cells: ({ name, group }) => [name, group],
  });
}

/** Runs `gym list resources-servers`. */
export function listResourcesServers(context: CommandContext): Promise<number> {
  return list(context, {
    type: "resources server",
    title: "Available resources servers in NeMo Gym",
    discover: discoverResourcesServers,
    texts: ({ name, domain, description }) => [name, domain, description],
    inspect: ({ name, domain, description, value, configFile }) => ({
      domain,
      description: withValue(description, value),
      details: { config: configPlace(configFile) },
      usage: `gym eval run --resources-server ${name} --model-type openai_model`,
    }),
    json: ({ name, domain = null, description = null }) => ({ name, domain, description }),
    columns: { columns: ["Name", "Domain", "Description"], optional: ["Domain"] },
    cells: ({ name, domain = "", description = "" }) => [name, domain, description],
  });
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
