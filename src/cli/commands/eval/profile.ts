import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { profileKeys, taskProfileKeys } from "../../eval/keys.ts";
import { jsonFlag } from "../../flags.ts";

const { materialized_inputs_jsonl_fpath: inputs } = profileKeys;
const { rollouts_jsonl_fpath: _shared, ...olderKeys } = taskProfileKeys;
const optional = Object.fromEntries(
  Object.entries(olderKeys).map(([name, { type, help }]) => [name, { type, help: `older form: ${help}` }]),
);

export const evalProfile = defineCommand({
  description:
    "Statistics of the rewards of every task and its pass rate, for choosing tasks by difficulty: <rollouts>_reward_profiling.jsonl and <rollouts>_agent_metrics.json. " +
    "The older form, chosen by output_jsonl_fpath, writes the rows of input_jsonl_fpath with avg_reward, std_reward, pass_rate and so on.",
  flags: {
    ...keyFlags(profileKeys),
    ...jsonFlag,
  },
  keys: {
    ...profileKeys,
    materialized_inputs_jsonl_fpath: {
      type: inputs.type,
      help: `${inputs.help}; not read by the older form`,
    },
    ...optional,
    pass_threshold: {
      type: "float",
      default: 1,
      help: "reward from which a rollout passes; no default in the older form",
    },
  },
  examples: [
    "gym eval profile --inputs out_materialized_inputs.jsonl --rollouts out.jsonl",
    "gym eval profile +input_jsonl_fpath=tasks.jsonl +rollouts_jsonl_fpath=out.jsonl +output_jsonl_fpath=profiled.jsonl +pass_threshold=1.0",
  ],
  resolve: { noModel: true, offline: true },
  run: async (context) => (await import("../../eval/profile.ts")).profileRollouts(context),
});
