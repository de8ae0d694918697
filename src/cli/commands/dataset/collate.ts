import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { collateKeys } from "../../dataset/keys.ts";
import { configFlag, jsonFlag, searchDirFlag, selectorFlags } from "../../flags.ts";

export const datasetCollate = defineCommand({
  description:
    "Validate the datasets of a config, compute their metrics, compare them with the metrics on disk and join the rows of each " +
    "type into one file, every row marked with its agent. No model has to be configured.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...searchDirFlag,
    ...keyFlags(collateKeys),
    ...jsonFlag,
  },
  keys: collateKeys,
  examples: [
    "gym dataset collate --resources-server mcqa --mode example_validation --output-dir data/mcqa",
    "gym dataset collate --config my_env.yaml --mode train_preparation --output-dir data/mine --download",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) =>
    (await import("../../dataset/collate.ts")).collateDatasets(context, context.flags.json),
});
