import { existsSync } from "node:fs";
import { mkdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import type { ResolvedConfig } from "../../config/resolve.ts";
import { GymError } from "../../errors.ts";
import { fileError } from "../../rollouts/errors.ts";
import { makeDirectory } from "../../rollouts/files/artifact-paths.ts";
import { datasetList, preprocessedDirectory } from "../../run/evaluation-input.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";

interface InputKeys {
  input_jsonl_fpath: string | undefined;
  split: string | undefined;
  reuse_existing_data_preparation: boolean;
  output: string;
}

/** The input file of a run: the one given, or a split of the config's datasets. Undefined: the example data. */
export async function chooseInput(
  context: CommandContext,
  config: ResolvedConfig,
  keys: InputKeys,
  status: (text: string) => void,
): Promise<string | undefined> {
  if (keys.split === undefined) return keys.input_jsonl_fpath;
  if (keys.input_jsonl_fpath !== undefined) {
    throw new UsageError(
      "--input and --split cannot be combined: give a file, or collate a split of the config's datasets",
    );
  }
  const directory = preprocessedDirectory(keys.output);
  const file = path.join(directory, `${keys.split}.jsonl`);
  if (!(keys.reuse_existing_data_preparation && existsSync(file))) {
    status("preparing the datasets");
    await collateSplit(context, config, directory);
  }
  if (existsSync(file)) return file;
  throw new GymError(
    "EVAL_NO_SPLIT",
    `The config has no dataset of type '${keys.split}'. Its agents' datasets: ${datasetList(config)}.`,
  );
}

async function collateSplit(
  context: CommandContext,
  config: ResolvedConfig,
  directory: string,
): Promise<void> {
  const { collate } = await import("../../datasets/collate.ts");
  const { agentsWithDatasets, hubAccess, registryAccess } = await import("../dataset/access.ts");
  const { readKeys } = await import("../config-keys.ts");
  const { hubKeys, registryKeys } = await import("../dataset/keys.ts");
  const { io, roots, signal } = context;
  const access = readKeys({ ...hubKeys, ...registryKeys }, config);
  await collate({
    mode: "train_preparation",
    outputDirectory: directory,
    agents: agentsWithDatasets(config, context),
    cwd: io.cwd,
    roots,
    signal,
    download: {
      hub: hubAccess(access, context),
      registry: registryAccess(access, context),
      dataSource: "huggingface",
    },
  });
}

/** The default output: a new directory for every run, created immediately so that no other run uses it. */
export async function newOutput(cwd: string, agent: string, now: Date): Promise<string> {
  const time = now.toISOString().replace(/[:.]/g, "-").slice(0, 19);
  const parent = path.join(cwd, "results", agent);
  await makeDirectory(parent);
  for (let number = 1; ; number++) {
    const directory = path.join(parent, number === 1 ? time : `${time}-${number}`);
    try {
      await mkdir(directory);
      return path.join(directory, "rollouts.jsonl");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw fileError(error, directory, "write");
    }
  }
}

/** Removes the directory of a refused run if it is empty. */
export async function dropEmptyDirectory(output: string): Promise<void> {
  await rmdir(path.dirname(output)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST" && error.code !== "ENOENT") throw error;
  });
}

/** The same for a run whose rows were refused: its servers have started, but their logs do not concern the rows. */
export async function dropRefusedRun(output: string): Promise<void> {
  await rm(path.join(path.dirname(output), "logs"), { recursive: true, force: true });
  await dropEmptyDirectory(output);
}
