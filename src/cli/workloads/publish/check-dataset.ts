import path from "node:path";
import { errorMessage } from "../../../base/errors.ts";
import { WorkloadError } from "../../../config/errors.ts";
import { findExistingPath, findPath } from "../../../config/paths.ts";
import {
  applyPromptConfig,
  hasPopulatedInput,
  loadPromptConfig,
  type PromptConfig,
  parseExactRow,
  readTextLines,
  validateRow,
} from "../../../data/light-door.ts";
import type { ManifestDataset } from "../catalog/manifest.ts";
import { checkPrepareScript } from "./inspect-code.ts";

export interface CheckedDataset {
  readonly name: string;
  readonly type: string;
  /** Absolute. */
  readonly path: string;
  readonly rows: number;
  readonly prompt_config: string | null;
}

export interface DatasetContext {
  /** The name of the workload, for messages. */
  readonly workload: string;
  readonly roots: readonly string[];
  readonly standardPrompt: string | null;
  /** Whether the config has a source for the data. */
  readonly downloadable: boolean;
  readonly signal?: AbortSignal;
}

/** Reading stops after this number of invalid rows. */
const MAX_PROBLEMS = 5;

/** Checks every row of a dataset. A missing file that can be prepared or downloaded is only a warning. */
export async function checkManifestDataset(
  dataset: ManifestDataset,
  context: DatasetContext,
): Promise<{ checked: CheckedDataset; warning?: string }> {
  const { name, type, jsonl_fpath: given } = dataset;
  const prompt = type === "benchmark" ? await benchmarkPrompt(dataset, context) : undefined;
  const prompt_config = prompt?.path ?? null;
  const file = findExistingPath(given, context.roots);
  if (file === undefined) {
    const missing = findPath(given, context.roots);
    const advice = howToGet(dataset, context);
    if (advice === undefined)
      throw new WorkloadError(`The file of dataset '${name}' does not exist: ${missing}`);
    return {
      checked: { name, type, path: path.resolve(missing), rows: 0, prompt_config },
      warning: `The rows of dataset '${name}' were not checked, because ${given} does not exist yet; ${advice}.`,
    };
  }
  const rows = await countRows(file, prompt, context.signal);
  if (rows === 0) throw new WorkloadError(`Dataset '${name}' is empty: ${file}`);
  return { checked: { name, type, path: path.resolve(file), rows, prompt_config } };
}

function howToGet({ type }: ManifestDataset, { workload, downloadable }: DatasetContext): string | undefined {
  if (type === "benchmark") return `create it with \`gym eval prepare --benchmark ${workload}\``;
  return downloadable ? "`gym dataset collate --download` fetches it" : undefined;
}

async function benchmarkPrompt(
  { name, prepare_script: script, prompt_config: own }: ManifestDataset,
  { roots, standardPrompt }: DatasetContext,
): Promise<PromptConfig> {
  checkPrepareScript(script ?? "", roots);
  const given = own ?? standardPrompt;
  if (given === null)
    throw new WorkloadError(
      `Dataset '${name}' has no prompt_config, and there is no standard_prompt_config.`,
    );
  const file = findExistingPath(given, roots);
  if (file === undefined)
    throw new WorkloadError(`The prompt config of dataset '${name}' does not exist: ${given}`);
  try {
    return await loadPromptConfig(path.resolve(file));
  } catch (error) {
    throw new WorkloadError(`Dataset '${name}': ${errorMessage(error)}`, { cause: error });
  }
}

async function countRows(file: string, prompt: PromptConfig | undefined, signal: AbortSignal | undefined) {
  const problems: string[] = [];
  let rows = 0;
  try {
    for await (const line of readTextLines(file, signal)) {
      rows++;
      const problem = rowProblem(line, prompt);
      if (problem !== undefined) problems.push(`  - ${file}:${rows}: ${problem}`);
      if (problems.length === MAX_PROBLEMS) break;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw new WorkloadError(`${file} cannot be read: ${errorMessage(error)}`, { cause: error });
  }
  if (problems.length > 0)
    throw new WorkloadError(`Rows that cannot start a rollout:\n${problems.join("\n")}`);
  return rows;
}

function rowProblem(line: string | null, prompt: PromptConfig | undefined): string | undefined {
  try {
    let row = parseExactRow(line, "the row");
    if (prompt !== undefined) {
      if (hasPopulatedInput(row))
        return `it has an input already, which the prompt config ${prompt.path} would fill`;
      row = applyPromptConfig(prompt, row);
    }
    const verdict = validateRow(row);
    if (verdict.valid) return undefined;
    return verdict.problems.map(({ path: at, message }) => `${at}: ${message}`).join("; ");
  } catch (error) {
    return errorMessage(error);
  }
}
