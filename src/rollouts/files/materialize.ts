import { createHash } from "node:crypto";
import { dumpsCompact } from "../../python/json/json-dumps.ts";
import { type ExpandOptions, expandRows } from "../inputs/expand.ts";
import { writeFileAtomically } from "./atomic-file.ts";

/** The written inputs. */
export interface MaterializedInputs {
  path: string;
  rows: number;
  tasks: number;
  rowsByAgent: Map<string, number>;
  bytes: number;
  sha256: string;
}

/** Expands an input file into the materialized inputs file: one rollout per line, compact JSON, written atomically. */
export async function materializeInputs(options: ExpandOptions, path: string): Promise<MaterializedInputs> {
  const rowsByAgent = new Map<string, number>();
  const hash = createHash("sha256");
  let rows = 0;
  let tasks = 0;
  let bytes = 0;
  async function* lines(): AsyncGenerator<string> {
    for await (const { row, agent, rolloutIndex } of expandRows(options)) {
      rows++;
      rowsByAgent.set(agent, (rowsByAgent.get(agent) ?? 0) + 1);
      // Every task has exactly one rollout with index 0.
      if (rolloutIndex === 0) tasks++;
      yield `${dumpsCompact(row)}\n`;
    }
  }
  await writeFileAtomically(path, lines(), {
    onBytes: (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
    },
  });
  return { path, rows, tasks, rowsByAgent, bytes, sha256: hash.digest("hex") };
}
