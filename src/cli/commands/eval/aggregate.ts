import { defineCommand } from "../../command.ts";
import { aggregateKeys } from "../../eval/keys.ts";
import { configFlag, healthFlags, jsonFlag, searchDirFlag, selectorFlags } from "../../flags.ts";

export const evalAggregate = defineCommand({
  description:
    "Join the rollouts of several runs (shards) and compute the metrics of the whole. The agents of the rows are asked where they run; else the " +
    "servers of the config are started for it; with neither, the default metrics are computed without them.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...searchDirFlag,
    "input-glob": {
      kind: "text",
      short: "i",
      key: "input_glob",
      metavar: "PATTERNS",
      help: "shell patterns of the shards, separated by commas",
    },
    output: {
      kind: "text",
      short: "o",
      key: "output_jsonl_fpath",
      metavar: "FILE",
      completes: "file",
      help: "where the merged rollouts go; the metrics lie beside it",
    },
    ...healthFlags,
    ...jsonFlag,
  },
  keys: aggregateKeys,
  examples: ["gym eval aggregate --config my_env.yaml -i 'results/shard_*.jsonl' -o results/all.jsonl"],
  resolve: { noModel: true },
  run: async (context) => (await import("../../eval/aggregate.ts")).aggregateShards(context),
});
