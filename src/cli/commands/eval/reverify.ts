import { defineCommand } from "../../command.ts";
import { keyFlags } from "../../config-keys.ts";
import { reverifyKeys } from "../../eval/keys.ts";
import { configFlag, searchDirFlag, selectorFlags } from "../../flags.ts";

export const evalReverify = defineCommand({
  description:
    "Score stored rollouts again with the verifiers of a config, without asking the model. Servers that do not declare their verifiers safe for this are " +
    "refused unless --force is given. --judge-failed-only recovers rollouts whose judge could not be asked.",
  flags: {
    ...configFlag,
    ...selectorFlags,
    ...searchDirFlag,
    ...keyFlags(reverifyKeys),
    json: { kind: "switch", help: "print events as JSON lines" },
  },
  keys: reverifyKeys,
  examples: [
    "gym eval reverify --resources-server mcqa --inputs out_materialized_inputs.jsonl --rollouts out.jsonl -o rescored.jsonl",
    "gym eval reverify --config my_env.yaml --inputs in.jsonl --rollouts out.jsonl -o out.jsonl --judge-failed-only --append",
  ],
  resolve: { noModel: true },
  run: async (context) => (await import("../../eval/reverify.ts")).reverifyRollouts(context),
});
