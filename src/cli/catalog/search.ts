import type { CommandContext } from "../command.ts";
import { listAgents, listModels, listResourcesServers } from "./list-components.ts";
import { listBenchmarks, listEnvironments } from "./list-workloads.ts";

const LISTINGS = {
  benchmarks: listBenchmarks,
  environments: listEnvironments,
  agents: listAgents,
  models: listModels,
  "resources-servers": listResourcesServers,
} as const;

/** Runs `gym search`: the listing of the type, narrowed by the query. */
export function searchCatalog(
  context: CommandContext,
  type: keyof typeof LISTINGS = "environments",
): Promise<number> {
  return LISTINGS[type](context);
}
