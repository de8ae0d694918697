import { errorMessage } from "../base/errors.ts";
import { defaultMaxDepth, dumps, isObject, restyle } from "../base/python/json/door.ts";
import { materializeTask } from "../wire/door.ts";
import type { DatasetEntry } from "./entry.ts";
import { DatasetError } from "./errors.ts";
import { type Line, parseExactRow, readTextBatches } from "./lines.ts";
import type { OutputFile } from "./output-file.ts";
import { applyPromptConfig, hasPopulatedInput, type PromptConfig } from "./prompt-config.ts";

export interface PrepareDatasetOptions {
  /** The agent instance of the rows. */
  agent: string;
  /** Number of rows of earlier datasets of the same type, which are in front of these. */
  rowsBefore?: number;
  prompt?: PromptConfig;
  signal?: AbortSignal;
  onProgress?: (bytes: number, rows: number) => void;
}

/** Writes the rows of a dataset with their agent and repeats to all `outputs`. Returns the number of rows. */
export async function prepareDataset(
  file: string,
  entry: Pick<DatasetEntry, "lines" | "repeats" | "taskset">,
  outputs: readonly OutputFile[],
  options: PrepareDatasetOptions,
): Promise<number> {
  const reference = { type: "responses_api_agents", name: options.agent };
  const agent = { reference, text: dumps({ agent_ref: reference }).slice(1) };
  let index = 0;
  let rows = 0;
  let read = 0;
  const before = options.rowsBefore ?? 0;
  for await (const { lines, bytes } of readTextBatches(file, options.signal)) {
    for (const line of lines) {
      const lineNumber = ++index;
      if (lineNumber <= entry.lines.start || lineNumber > entry.lines.end) continue;
      const where = `${file}:${lineNumber}`;
      const text =
        entry.taskset === undefined
          ? prepareRow(line, agent, options.prompt, where)
          : prepareTask(line, entry.taskset, { prompt: options.prompt, index: before + read, where });
      for (const output of outputs) await output.write(`${text}\n`.repeat(entry.repeats));
      read++;
      rows += entry.repeats;
    }
    options.onProgress?.(bytes, rows);
  }
  return rows;
}

/** The row as Python writes it, with `agent_ref` at its previous place or at the end. */
function prepareRow(line: Line, agent: AgentText, prompt: PromptConfig | undefined, where: string): string {
  const quick = prompt === undefined && line !== null ? appendAgent(line, agent.text) : undefined;
  if (quick !== undefined) return quick;
  const row = readForCollation(line, prompt, where);
  row["agent_ref"] = agent.reference;
  return dumps(row);
}

/** The row as a task of a taskset. Its index in the collated file is its id if it has no other. */
function prepareTask(
  line: Line,
  taskset: string,
  { prompt, index, where }: { prompt: PromptConfig | undefined; index: number; where: string },
): string {
  const row = readForCollation(line, prompt, where);
  try {
    return dumps(materializeTask({ ...row, _ng_task_index: index }, taskset));
  } catch (error) {
    throw new DatasetError("DATASET_ROW_INVALID", `${where}: ${errorMessage(error)}`, { cause: error });
  }
}

/** The row of a line with the input from the prompt config. Fails if the line cannot be collated. */
export function readForCollation(
  line: Line,
  prompt: PromptConfig | undefined,
  where: string,
): Record<string, unknown> {
  const row = parseExactRow(line, where);
  return prompt === undefined ? row : fill(row, prompt, where);
}

interface AgentText {
  reference: object;
  /** `"agent_ref": {…}}`, the end of the text of a row. */
  text: string;
}

/** The fast path: appends the agent to the text of the row. Undefined if the row must be rewritten. */
function appendAgent(line: string, agent: string): string | undefined {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    // Python's JSON dialect or invalid JSON. The exact parser decides.
    return undefined;
  }
  if (!isObject(row) || Object.hasOwn(row, "agent_ref")) return undefined;
  const styled = restyle(line);
  if (styled === undefined || styled.members !== countMembers(row)) return undefined;
  return styled.members === 0 ? `{${agent}` : `${styled.text.slice(0, -1)}, ${agent}`;
}

/** NaN if the row is nested too deeply. The exact parser then reports the error. */
function countMembers(value: object, depth = 1): number {
  if (depth > defaultMaxDepth) return Number.NaN;
  let count = Array.isArray(value) ? 0 : Object.keys(value).length;
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null) count += countMembers(member, depth + 1);
  }
  return count;
}

/** Whether a prompt config can set the input of the row: the parameters are an object or missing. */
export function hasFillableParams(row: Record<string, unknown>): boolean {
  const params = row["responses_create_params"];
  return params === undefined || isObject(params);
}

function fill(row: Record<string, unknown>, prompt: PromptConfig, where: string): Record<string, unknown> {
  if (hasPopulatedInput(row)) {
    throw new DatasetError(
      "DATASET_PROMPT_CONFLICT",
      `${where}: the row already has responses_create_params.input, which the prompt config '${prompt.path}' would fill. ` +
        "Remove one of the two.",
    );
  }
  if (!hasFillableParams(row)) {
    const message = `${where}: responses_create_params is not an object, so the prompt config '${prompt.path}' cannot fill it.`;
    throw new DatasetError("DATASET_ROW_INVALID", message);
  }
  try {
    return applyPromptConfig(prompt, row);
  } catch (error) {
    throw new DatasetError("DATASET_ROW_INVALID", `${where}: ${errorMessage(error)}`, { cause: error });
  }
}
