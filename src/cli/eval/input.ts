import { existsSync } from "node:fs";
import path from "node:path";
import type { ResolvedConfig } from "../../config/resolve.ts";
import { GymError } from "../../errors.ts";
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
      "--input and --split exclude one another: give a file, or collate a split of the config's datasets",
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
