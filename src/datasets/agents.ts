import { errorMessage } from "../errors.ts";
import type { DatasetAgent } from "./collate.ts";
import { parseDatasetEntry } from "./entry.ts";

export interface AgentDatasets {
  agents: DatasetAgent[];
  /** Agents left out because one of their datasets is not valid, as config loading leaves them out. */
  rejected: { agent: string; problems: string[] }[];
}

/** The datasets of agent instances as their config blocks list them. */
export function agentsOf(instances: readonly { name: string; datasets?: unknown }[]): AgentDatasets {
  const result: AgentDatasets = { agents: [], rejected: [] };
  for (const { name, datasets } of instances) {
    const entries: DatasetAgent["datasets"] = [];
    const problems: string[] = [];
    for (const raw of Array.isArray(datasets) ? datasets : []) {
      try {
        entries.push(parseDatasetEntry(raw, `agent '${name}'`));
      } catch (error) {
        problems.push(errorMessage(error));
      }
    }
    if (problems.length > 0) result.rejected.push({ agent: name, problems });
    else result.agents.push({ name, datasets: entries });
  }
  return result;
}
