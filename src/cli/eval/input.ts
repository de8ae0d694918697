import { existsSync, type Stats, statSync } from "node:fs";
import path from "node:path";
import { ConfigPathNotFoundError } from "../../config/errors.ts";
import { candidatePaths, findPath, searchRoots } from "../../config/paths.ts";
import type { ResolvedConfig } from "../../config/resolve.ts";
import { agentsOf } from "../../datasets/agents.ts";
import { GymError } from "../../errors.ts";
import { dumpsCompact } from "../../python/json/json-dumps.ts";
import { writeFileAtomically } from "../../rollouts/files/atomic-file.ts";
import { readRows } from "../../rollouts/files/jsonl-rows.ts";
import { checkAgentName } from "../../rollouts/inputs/agent-check.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import type { RunView } from "./run-view.ts";

export interface ChosenInput {
  inputPath: string;
  agentName?: string | undefined;
}

interface InputKeys {
  input_jsonl_fpath: string | undefined;
  agent_name: string | undefined;
  split: string | undefined;
  reuse_existing_data_preparation: boolean;
  output: string;
}

/** What an evaluation with its own servers runs: the given file, a split of the config's datasets, or its example data. */
export async function chooseInput(
  context: CommandContext,
  config: ResolvedConfig,
  keys: InputKeys,
  view: RunView,
): Promise<ChosenInput> {
  if (keys.input_jsonl_fpath !== undefined && keys.split !== undefined) {
    throw new UsageError(
      "--input and --split exclude one another: give a file, or collate a split of the config's datasets",
    );
  }
  if (keys.input_jsonl_fpath !== undefined) {
    return { inputPath: existingInput(context, keys.input_jsonl_fpath), agentName: keys.agent_name };
  }
  const directory = preprocessedDirectory(keys.output);
  if (keys.split !== undefined) {
    const inputPath = path.join(directory, `${keys.split}.jsonl`);
    if (!(keys.reuse_existing_data_preparation && existsSync(inputPath))) {
      view.status("preparing the datasets");
      await collateSplit(context, config, directory);
    }
    if (!existsSync(inputPath)) {
      throw new GymError(
        "EVAL_NO_SPLIT",
        `The config has no dataset of type '${keys.split}'. Its agents' datasets: ${datasetList(config)}.`,
      );
    }
    return { inputPath, agentName: keys.agent_name };
  }
  return {
    inputPath: await joinExamples(context, config, directory, keys.agent_name),
    agentName: keys.agent_name,
  };
}

/** Where inputs that are made for a run lie: `res/run.jsonl` has `res/run/preprocessed_datasets`. */
export function preprocessedDirectory(output: string): string {
  const suffix = path.extname(output);
  // Without a suffix to remove, the directory would take the name of the output itself.
  if (suffix === "") return `${output}_preprocessed_datasets`;
  return path.join(output.slice(0, output.length - suffix.length), "preprocessed_datasets");
}

chooseInput.existing = existingInput;
chooseInput.datasets = datasetFiles;

/** The files of the config's datasets, wherever they are found. */
function datasetFiles({ io, env, installRoot }: CommandContext, config: ResolvedConfig): string[] {
  const roots = searchRoots({ cwd: io.cwd, env, installRoot });
  const { agents } = agentsOf(agentBlocks(config));
  return agents.flatMap(({ datasets }) => datasets.map(({ jsonlPath }) => findPath(jsonlPath, roots)));
}

function existingInput(context: CommandContext, given: string): string {
  const { io, env, installRoot } = context;
  const roots = searchRoots({ cwd: io.cwd, env, installRoot });
  const found = findPath(given, roots);
  const status = statSync(found, { throwIfNoEntry: false });
  if (status?.isFile()) return found;
  if (status) throw new GymError("EVAL_NO_INPUT", notAFile(given, status));
  const tried = candidatePaths(given, roots)
    .map((place) => `  - ${place}`)
    .join("\n");
  throw new ConfigPathNotFoundError(`Input file not found: '${given}' (--input). Looked at:\n${tried}`);
}

/** What a pipe gives is gone once it is read, and one nobody writes to would be waited for without end. */
function notAFile(given: string, status: Stats): string {
  const kind = status.isDirectory() ? "a directory" : status.isFIFO() ? "a pipe" : "a device or socket";
  const save = status.isDirectory() ? "" : " Save what it gives to a file first (`… > rows.jsonl`).";
  return `'${given}' is ${kind}, not a file (--input): a run reads its rows more than once.${save}`;
}

async function collateSplit(
  context: CommandContext,
  config: ResolvedConfig,
  directory: string,
): Promise<void> {
  const { collate } = await import("../../datasets/collate.ts");
  const { hubAccess, registryAccess } = await import("../dataset/access.ts");
  const { readKeys } = await import("../config-keys.ts");
  const { hubKeys, registryKeys } = await import("../dataset/keys.ts");
  const { io, env, installRoot, signal, err } = context;
  const access = readKeys({ ...hubKeys, ...registryKeys }, config);
  const { agents, rejected } = agentsOf(agentBlocks(config));
  for (const { problems } of rejected) for (const problem of problems) err(`Warning: ${problem}`);
  await collate({
    mode: "train_preparation",
    outputDirectory: directory,
    agents,
    cwd: io.cwd,
    roots: searchRoots({ cwd: io.cwd, env, installRoot }),
    signal,
    download: {
      hub: hubAccess(access, context as never),
      registry: registryAccess(access, context as never),
      dataSource: "huggingface",
    },
  });
}

/** The example rows of every agent in one file, each marked with its agent. */
async function joinExamples(
  context: CommandContext,
  config: ResolvedConfig,
  directory: string,
  only: string | undefined,
): Promise<string> {
  const { io, env, installRoot } = context;
  const roots = searchRoots({ cwd: io.cwd, env, installRoot });
  if (only !== undefined)
    checkAgentName(
      only,
      agentBlocks(config).map(({ name }) => name),
    );
  const examples = agentsOf(agentBlocks(config)).agents.flatMap(({ name, datasets }) =>
    datasets
      .filter(({ type }) => type === "example")
      .map(({ jsonlPath }) => ({ name, file: findPath(jsonlPath, roots) })),
  );
  const chosen = examples.filter(({ name }) => only === undefined || name === only);
  if (chosen.length === 0) {
    throw new GymError(
      "EVAL_NO_INPUT",
      `There is nothing to run: give --input FILE or --split NAME; the config has no example data${only ? ` for '${only}'` : ""} (datasets: ${datasetList(config)}).`,
    );
  }
  async function* lines(): AsyncGenerator<string> {
    for (const { name, file } of chosen) {
      for await (const { row } of readRows(file, { exact: true })) {
        yield `${dumpsCompact({ ...row, agent_ref: { type: "responses_api_agents", name } })}\n`;
      }
    }
  }
  const joined = path.join(directory, "example.jsonl");
  await writeFileAtomically(joined, lines());
  return joined;
}

function agentBlocks(config: ResolvedConfig): { name: string; datasets?: unknown }[] {
  return config.servers
    .filter(({ type }) => type === "responses_api_agents")
    .map(({ name, config: block }) => ({ name, datasets: block["datasets"] }));
}

function datasetList(config: ResolvedConfig): string {
  const { agents } = agentsOf(agentBlocks(config));
  const named = agents.flatMap(({ name, datasets }) =>
    datasets.map((entry) => `${name}: ${entry.name} (${entry.type})`),
  );
  return named.join(", ") || "none";
}
