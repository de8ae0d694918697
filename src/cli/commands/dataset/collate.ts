import { defineCommand } from "../../command.ts";
import { COLLATE_MODES, collateKeys } from "../../dataset/keys.ts";
import { configFlag, jsonFlag, searchDirFlag, selectorFlags } from "../../flags.ts";

export const datasetCollate = defineCommand({
  description:
    "Validate the datasets of a config, compute their metrics, compare them with the metrics on disk and join the rows of each " +
    "type into one file, every row marked with its agent. No model has to be configured.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...searchDirFlag,
    mode: {
      kind: "text",
      key: "mode",
      choices: COLLATE_MODES,
      help: "train and validation data, or example data",
    },
    "output-dir": {
      kind: "text",
      key: "output_dirpath",
      metavar: "DIR",
      completes: "directory",
      help: "where the collated files go",
    },
    download: { kind: "switch", key: "should_download", help: "fetch datasets that are not on disk" },
    strict: {
      kind: "switch",
      key: "strict",
      help: "fail when any row is invalid, before anything is written",
    },
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
