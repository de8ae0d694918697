import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { aggregateKeys } from "../../eval/keys.ts";
import { configFlag, jsonFlag, searchDirFlag, selectorFlags } from "../../flags.ts";

export const evalAggregate = defineCommand({
  description:
    "Join the rollouts of several runs (shards) and compute the metrics of the whole. The agents of the rows are asked where they run; else the " +
    "servers of the config are started for it; with neither, the default metrics are computed without them.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...searchDirFlag,
    ...keyFlags(aggregateKeys),
    ...jsonFlag,
  },
  keys: aggregateKeys,
  examples: ["gym eval aggregate --config my_env.yaml -i 'results/shard_*.jsonl' -o results/all.jsonl"],
  resolve: { noModel: true },
  run: async (context) => (await import("../../eval/aggregate.ts")).aggregateShards(context),
});
